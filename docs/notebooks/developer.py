# %% [markdown]
# # For workflow developers: what makes a run slow?
#
# A recorded run of Makeflow with the trace of its reads and writes.
# Run it from the root of the repository, as a script or cell by cell.

# %%
import os
import pathlib
import shutil

import flowmine_hpc as fm

out = pathlib.Path(os.environ.get("FLOWMINE_OUT", "out"))
dataset = out / "notebook-run"
shutil.rmtree(dataset, ignore_errors=True)
shutil.copytree("fixtures/demonstration/dataset", dataset)
fm.import_("makeflow", "fixtures/demonstration/rnaseq.makeflow.makeflowlog", dataset=dataset)
fm.correlate(dataset=dataset)
run = fm.open(dataset)

# %% [markdown]
# The chain of tasks that the run waited for.

# %%
run.critical_path()

# %% [markdown]
# The same as a graph of networkx.

# %%
dag = run.dag()
graph = dag.to_networkx()
assert graph.number_of_edges() > 10
dag

# %% [markdown]
# The tasks that read and write most, and how.

# %%
io = run.task_io.select("logical_task", "path", "read_bytes", "written_bytes", "read_pattern").to_pandas()
tasks = io.groupby("logical_task", dropna=False)[["read_bytes", "written_bytes"]].sum()
assert int(tasks["read_bytes"].sum()) > 0
tasks.sort_values("read_bytes", ascending=False).head(10)

# %%
run.io_profile()

# %% [markdown]
# Declared against traced dependencies.

# %%
print(run.dependency_audit().text())
