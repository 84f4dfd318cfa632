# %% [markdown]
# # For support staff: why do jobs wait?
#
# A recorded queue of Slurm, from the files of `squeue` and `sacct`.
# Run it from the root of the repository, as a script or cell by cell.

# %%
import os
import pathlib

import flowmine_hpc as fm

out = pathlib.Path(os.environ.get("FLOWMINE_OUT", "out"))
queue = fm.open("fixtures/case-study/polls", "fixtures/case-study/sacct-token.txt.gz")
queue.tables

# %% [markdown]
# The most expensive waits by cause, and what can be changed.

# %%
print(queue.waits().text())

# %%
findings = queue.findings()
print(findings.text())

# %% [markdown]
# The states of jobs by account, with any tool that reads Arrow.
# Only these columns are read from the files.

# %%
states = queue.job_states.select("account", "job", "state").to_pandas()
completed = states[states["state"] == "COMPLETED"].groupby("account")["job"].nunique()
assert completed.sum() > 100
completed.sort_values(ascending=False)

# %% [markdown]
# One page for the ticket.

# %%
fm.report(queue, output=out / "support.html")
assert (out / "support.html").stat().st_size > 10_000
