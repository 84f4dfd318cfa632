# %% [markdown]
# # For researchers: the case study with PM4Py
#
# PM4Py discovers from the DataFrame of flowmine what flowmine discovers itself.
# PM4Py has the licence AGPL; flowmine neither contains nor imports it.
# Run it from the root of the repository, as a script or cell by cell.

# %%
import pm4py

import flowmine_hpc as fm

queue = fm.open("fixtures/case-study/polls", "fixtures/case-study/sacct-token.txt.gz")
events = queue.to_pm4py(case_notion="dependency")
events.head()

# %% [markdown]
# The directly-follows graph of both is the same.

# %%
edges, starts, ends = pm4py.discover_dfg(events)
ours = queue.dfg(case_notion="dependency", events="ends")
assert (dict(edges), dict(starts), dict(ends)) == ours.to_pm4py()
ours

# %% [markdown]
# A process model by PM4Py's Inductive Miner, and its fitness, next to flowmine's.

# %%
log = fm.read_log(events)
net, initial, final = pm4py.discover_petri_net_inductive(events, noise_threshold=0.0)
fitness = pm4py.fitness_token_based_replay(events, net, initial, final)
assert fitness["log_fitness"] == 1.0
log.petri(events="all")

# %% [markdown]
# Variants of both: the same sequences, as often.

# %%
theirs = {variant: count if isinstance(count, int) else len(count) for variant, count in pm4py.get_variants(events).items()}
found = log.variants(events="all").json["variants"]
assert sorted(theirs.values(), reverse=True) == [variant["cases"] for variant in found]
log.variants(events="all")
