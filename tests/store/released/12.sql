-- A repository that was explained at least once.
CREATE TABLE repository (
    id INTEGER PRIMARY KEY,  -- number of the row
    path TEXT NOT NULL UNIQUE  -- its common git directory, absolute
);

-- The baseline and the regression of explanations.
CREATE TABLE revision_range (
    id INTEGER PRIMARY KEY,  -- number of the row
    repository_id INTEGER NOT NULL REFERENCES repository (id),  -- where the commits are
    good TEXT NOT NULL,  -- commit of the last green revision
    bad TEXT NOT NULL,  -- commit of the red revision
    UNIQUE (repository_id, good, bad)
);

-- The explanation of one failing test; what `afterd show ID` prints.
CREATE TABLE explanation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- the ID of every command; never used twice
    range_id INTEGER NOT NULL REFERENCES revision_range (id),  -- what was compared
    created REAL NOT NULL,  -- when it was stored
    afterd TEXT NOT NULL,  -- version of afterd that made it
    test TEXT NOT NULL,  -- id of the failing test
    status TEXT NOT NULL,  -- explained, inconclusive, flaky, already-red, broken or green
    strategy TEXT NOT NULL,  -- after, dd or add
    reason TEXT NOT NULL,  -- one sentence where the status is not explained
    minimal INTEGER,  -- 1: putting back any change of the root fails again; NULL: not checked
    verified INTEGER NOT NULL,  -- 1: the bad version without root and auxiliary was seen to pass
    changes_total INTEGER NOT NULL,  -- changes of the range
    changes_pruned INTEGER NOT NULL,  -- of these, how many cannot matter
    changes_executed INTEGER NOT NULL,  -- of these, how many the failing run executed
    notes TEXT NOT NULL,  -- JSON list of sentences: what was not followed, what was cut
    build_command TEXT NOT NULL,  -- JSON list: how a variant is built; empty: nothing to build
    test_command TEXT NOT NULL,  -- JSON list: how it is tested
    contract TEXT NOT NULL,  -- the object `--format json` printed when it was made, kept verbatim
    also TEXT NOT NULL DEFAULT '[]',  -- JSON list: other failing tests that the same changes undone repair
    remarks TEXT NOT NULL DEFAULT '[]',  -- JSON list of sentences: what was set aside, of which version tests are
    out_of_budget INTEGER NOT NULL DEFAULT 0  -- 1: the budget ended the search, so that more of it may tell more
);
CREATE INDEX explanation_by_range ON explanation (range_id);

-- The failed assertion of an explanation.
CREATE TABLE failure (
    explanation_id INTEGER PRIMARY KEY REFERENCES explanation (id) ON DELETE CASCADE,  -- whose
    kind TEXT NOT NULL,  -- assertion, exception, crash, output or exit
    message TEXT NOT NULL,  -- what the test said
    file TEXT NOT NULL,  -- where it failed, relative to the repository; empty: unknown
    line INTEGER NOT NULL,  -- counted from 1; 0: unknown
    observed TEXT NOT NULL,  -- the value it had
    expected TEXT NOT NULL  -- the value it should have had
);

-- The root and auxiliary changes of an explanation.
CREATE TABLE change (
    explanation_id INTEGER NOT NULL REFERENCES explanation (id) ON DELETE CASCADE,  -- whose
    role TEXT NOT NULL,  -- root or auxiliary
    position INTEGER NOT NULL,  -- place in its list, from 0
    id TEXT NOT NULL,  -- c1, c2, … in diff order
    file TEXT NOT NULL,  -- path in the bad version
    old_file TEXT NOT NULL,  -- path in the good version
    old_start INTEGER NOT NULL,  -- first line in the good version
    old_count INTEGER NOT NULL,  -- lines in the good version; 0: the gap after old_start
    new_start INTEGER NOT NULL,  -- first line in the bad version
    new_count INTEGER NOT NULL,  -- lines in the bad version; 0: the gap after new_start
    form TEXT NOT NULL,  -- hunk, added file, deleted file, renamed file, mode, …
    kind TEXT NOT NULL,  -- source, test, build, docs or data
    symbol TEXT NOT NULL,  -- enclosing function or class
    commits TEXT NOT NULL,  -- JSON list of the commits of the range that made it
    patch TEXT NOT NULL,  -- zero-context unified hunk
    pruned TEXT NOT NULL,  -- why it cannot matter; empty for a change that may
    PRIMARY KEY (explanation_id, role, position)
) WITHOUT ROWID;

-- A node of the causal tree: the steps behind one unsat core.
CREATE TABLE cause (
    explanation_id INTEGER NOT NULL REFERENCES explanation (id) ON DELETE CASCADE,  -- whose
    node INTEGER NOT NULL,  -- number of the node, depth first, from 0 (the failed assertion)
    parent INTEGER,  -- node this one explains; NULL for the failed assertion
    predicate TEXT NOT NULL,  -- the condition that is explained
    file TEXT NOT NULL,  -- where it stands
    line INTEGER NOT NULL,  -- counted from 1; 0: unknown
    evidence TEXT NOT NULL,  -- how the edge from the parent is known: proved, observed, inferred
    PRIMARY KEY (explanation_id, node)
) WITHOUT ROWID;

-- A step of a cause, in the order it is shown.
CREATE TABLE step (
    explanation_id INTEGER NOT NULL REFERENCES explanation (id) ON DELETE CASCADE,  -- whose
    node INTEGER NOT NULL,  -- the cause it belongs to
    position INTEGER NOT NULL,  -- place in the cause, from 0
    file TEXT NOT NULL,  -- where the statement stands
    line INTEGER NOT NULL,  -- counted from 1; 0: unknown
    text TEXT NOT NULL,  -- the statement
    target TEXT NOT NULL,  -- what it defined
    observed TEXT NOT NULL,  -- the value it had in the failing run
    green TEXT NOT NULL,  -- the value it had in the green run; empty: unknown
    change TEXT NOT NULL,  -- the change that altered the statement; empty: none
    evidence TEXT NOT NULL,  -- proved, observed or inferred
    was TEXT NOT NULL DEFAULT '',  -- the statement with the change undone; empty: as it is, or unknown
    computed TEXT NOT NULL DEFAULT '',  -- the statement with the values that it read put in
    undone TEXT NOT NULL DEFAULT '',  -- the same of the run with the root undone
    tested INTEGER NOT NULL DEFAULT 0,  -- 1: with that run's value put here alone the test passes
    whose TEXT NOT NULL DEFAULT '',  -- of several guilty changes the one that alone alters the step; empty: not known
    PRIMARY KEY (explanation_id, node, position)
) WITHOUT ROWID;

-- The ranked lines of an explanation.
CREATE TABLE ranking (
    explanation_id INTEGER NOT NULL REFERENCES explanation (id) ON DELETE CASCADE,  -- whose
    position INTEGER NOT NULL,  -- place in the list, from 0
    file TEXT NOT NULL,  -- relative to the repository
    line INTEGER NOT NULL,  -- counted from 1
    score REAL NOT NULL,  -- fused score
    votes TEXT NOT NULL,  -- JSON object: score by technique
    text TEXT NOT NULL,  -- the line
    PRIMARY KEY (explanation_id, position)
) WITHOUT ROWID;

-- What an explanation cost.
CREATE TABLE run_counts (
    explanation_id INTEGER PRIMARY KEY REFERENCES explanation (id) ON DELETE CASCADE,  -- whose
    tests INTEGER NOT NULL,  -- test runs, without the confirmation of both ends
    builds INTEGER NOT NULL,  -- builds of variants
    cached INTEGER NOT NULL,  -- answers that needed no run
    smt_calls INTEGER NOT NULL,  -- calls of the solver
    confirmation INTEGER NOT NULL,  -- runs that confirmed both ends
    seconds_total REAL NOT NULL,  -- wall clock
    seconds_build REAL NOT NULL,  -- of it, building
    seconds_test REAL NOT NULL,  -- of it, testing
    seconds_trace REAL NOT NULL,  -- of it, recording
    seconds_solve REAL NOT NULL,  -- of it, in the solver
    warm INTEGER NOT NULL DEFAULT 0,  -- of the test runs, those in forks of a warm process
    interventions INTEGER NOT NULL DEFAULT 0,  -- runs with one value of the story set otherwise
    seconds_story REAL NOT NULL DEFAULT 0  -- of the seconds, the causal tree after the search
);

-- What a person said of an explanation (`afterd mark`).
CREATE TABLE mark (
    id INTEGER PRIMARY KEY,  -- number of the row
    explanation_id INTEGER NOT NULL REFERENCES explanation (id) ON DELETE CASCADE,  -- whose
    created REAL NOT NULL,  -- when the row was written
    kind TEXT NOT NULL,  -- wrong, flaky or cause
    changes TEXT NOT NULL,  -- JSON list of the true root's changes, for cause
    note TEXT NOT NULL  -- free text
);
CREATE INDEX mark_by_explanation ON mark (explanation_id);

-- Test outcomes of variants: nothing is run twice.
CREATE TABLE outcome (
    tree TEXT NOT NULL,  -- git tree id of the variant
    test TEXT NOT NULL,  -- test id; empty: the whole command
    command TEXT NOT NULL,  -- digest of build command, test command and failure signature asked for
    environment TEXT NOT NULL,  -- digest of the environment and the tool chain
    created REAL NOT NULL,  -- when the row was written
    verdict TEXT NOT NULL,  -- pass, fail or unresolved
    reason TEXT NOT NULL,  -- why it is unresolved; empty otherwise
    detail TEXT NOT NULL,  -- the end of the output, or of the compiler's
    signature TEXT NOT NULL,  -- JSON object of the failure signature; empty: none
    build_seconds REAL NOT NULL,  -- wall clock of the build
    test_seconds REAL NOT NULL,  -- wall clock of the test
    warm INTEGER NOT NULL DEFAULT 0,  -- 1: the test ran in a fork of a warm process
    cpu REAL NOT NULL DEFAULT 0,  -- seconds of CPU of build and test in a process of its own; 0: not known
    PRIMARY KEY (tree, test, command, environment)
) WITHOUT ROWID;

-- Builds of variants, apart from tests: one build serves many tests.
CREATE TABLE build (
    tree TEXT NOT NULL,  -- git tree id of the variant
    command TEXT NOT NULL,  -- digest of the build command
    environment TEXT NOT NULL,  -- digest of the environment and the tool chain
    created REAL NOT NULL,  -- when the row was written
    verdict TEXT NOT NULL,  -- pass: it builds; unresolved
    reason TEXT NOT NULL,  -- why it is unresolved; empty otherwise
    detail TEXT NOT NULL,  -- the first lines the compiler said
    signature TEXT NOT NULL,  -- empty: a build has none
    build_seconds REAL NOT NULL,  -- wall clock of the build
    test_seconds REAL NOT NULL,  -- 0
    PRIMARY KEY (tree, command, environment)
) WITHOUT ROWID;

-- Every outcome seen on a commit: last green and flakiness rates are read from here.
CREATE TABLE history (
    id INTEGER PRIMARY KEY,  -- number of the row
    repository_id INTEGER NOT NULL REFERENCES repository (id),  -- where the commit is
    commit_id TEXT NOT NULL,  -- what was tested
    test TEXT NOT NULL,  -- test id; empty: the whole command
    command TEXT NOT NULL,  -- digest of build and test command
    created REAL NOT NULL,  -- when the row was written
    verdict TEXT NOT NULL,  -- pass, fail or unresolved
    seconds REAL NOT NULL,  -- wall clock
    signature TEXT NOT NULL DEFAULT ''  -- JSON object of the failure signature; empty: not known
);
CREATE INDEX history_by_test ON history (repository_id, test, commit_id);

-- The daemon's durable queue: a row is a job until it is done, failed or abandoned.
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice
    key TEXT NOT NULL,  -- idempotency: one unfinished job a key
    kind TEXT NOT NULL,  -- what is to be done
    payload TEXT NOT NULL,  -- JSON object: its arguments
    trust TEXT NOT NULL,  -- where the commit came from, decided before anything runs
    priority INTEGER NOT NULL,  -- higher is leased first
    state TEXT NOT NULL,  -- waiting (for approval), queued, leased, done, failed or abandoned
    attempts INTEGER NOT NULL,  -- leases so far; also the fencing token of the current one
    not_before REAL NOT NULL,  -- not to be leased earlier than this
    leased_by TEXT NOT NULL,  -- worker; empty when not leased
    lease_until REAL NOT NULL,  -- when the lease ends unless a heartbeat renews it
    stage TEXT NOT NULL,  -- last checkpoint reached
    checkpoint TEXT NOT NULL,  -- JSON of what that stage knows; a resumed job starts there
    reason TEXT NOT NULL,  -- why it failed, waits or was abandoned
    created REAL NOT NULL,  -- when the row was written
    updated REAL NOT NULL,  -- when the row last changed
    stalls INTEGER NOT NULL DEFAULT 0  -- leases in a row that reached nothing new
);
CREATE UNIQUE INDEX job_unfinished ON job (key) WHERE state IN ('waiting', 'queued', 'leased');
CREATE INDEX job_queue ON job (state, priority, id);

-- Journal of a job: every run it made, so that a resumed job repeats none but the one under way.
CREATE TABLE run (
    job_id INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,  -- whose
    tree TEXT NOT NULL,  -- git tree id of the variant
    test TEXT NOT NULL,  -- test id, as in the table outcome
    command TEXT NOT NULL,  -- digest of build and test command
    environment TEXT NOT NULL,  -- digest of the environment and the tool chain
    number INTEGER NOT NULL,  -- which run of the same thing in this job, from 0
    created REAL NOT NULL,  -- when it ended
    verdict TEXT NOT NULL,  -- pass, fail or unresolved
    reason TEXT NOT NULL,  -- why it is unresolved; empty otherwise
    detail TEXT NOT NULL,  -- the end of the output, or of the compiler's
    signature TEXT NOT NULL,  -- JSON object of the failure signature; empty: none
    build_seconds REAL NOT NULL,  -- wall clock of the build
    test_seconds REAL NOT NULL,  -- wall clock of the test
    lasting INTEGER NOT NULL,  -- 1: another run would end alike, as far as one can tell
    builds INTEGER NOT NULL,  -- builds that were made
    tests INTEGER NOT NULL,  -- tests that were run
    missing TEXT NOT NULL,  -- a tool that the build did not find; empty: none
    unrunnable TEXT NOT NULL,  -- why the test command cannot be run; empty: it can
    warm INTEGER NOT NULL DEFAULT 0,  -- 1: the test ran in a fork of a warm process
    failures TEXT NOT NULL DEFAULT '[]',  -- JSON list of signatures: the tests that the run names as failed
    cpu REAL NOT NULL DEFAULT 0,  -- seconds of CPU of build and test; 0: in a warm process
    PRIMARY KEY (job_id, tree, test, command, environment, number)
) WITHOUT ROWID;
CREATE INDEX run_by_time ON run (created);

-- What the daemon found of a failing test at a commit.
CREATE TABLE verdict (
    id INTEGER PRIMARY KEY,  -- number of the row
    repository_id INTEGER NOT NULL REFERENCES repository (id),  -- where the commit is
    commit_id TEXT NOT NULL,  -- where the test fails
    base TEXT NOT NULL,  -- commit it was compared with
    test TEXT NOT NULL,  -- test id
    kind TEXT NOT NULL,  -- caused, flaky, already-red, broken or undetermined
    rate REAL,  -- how often a flaky test shows its other outcome, 0 to 1; NULL: not flaky
    runs INTEGER NOT NULL,  -- runs of the test at the commit that the verdict rests on
    explanation_id INTEGER REFERENCES explanation (id) ON DELETE SET NULL,  -- root and tree
    reason TEXT NOT NULL,  -- one sentence
    created REAL NOT NULL,  -- when the row was written
    UNIQUE (repository_id, commit_id, test)
);

-- The watched refs as the daemon last saw them.
CREATE TABLE ref_tip (
    repository_id INTEGER NOT NULL REFERENCES repository (id),  -- whose
    name TEXT NOT NULL,  -- full name of the ref
    commit_id TEXT NOT NULL,  -- where it pointed
    PRIMARY KEY (repository_id, name)
) WITHOUT ROWID;

-- Commits of unknown origin whose tests a person allowed to run: the commit, not its branch.
CREATE TABLE approval (
    commit_id TEXT PRIMARY KEY,  -- what may run
    created REAL NOT NULL  -- when the row was written
) WITHOUT ROWID;

-- Answers that were verified again in idle time; the daemon's calibration is read from here.
CREATE TABLE self_check (
    id INTEGER PRIMARY KEY,  -- number of the row
    explanation_id INTEGER NOT NULL REFERENCES explanation (id) ON DELETE CASCADE,  -- whose
    created REAL NOT NULL,  -- when the row was written
    reverted TEXT NOT NULL,  -- outcome with root and auxiliary changes undone: pass, if it holds
    put_back TEXT NOT NULL,  -- outcome with nothing undone: fail, if it holds
    held INTEGER  -- 1: the answer holds, 0: it does not, NULL: it could not be told
);
CREATE INDEX self_check_by_explanation ON self_check (explanation_id);

-- Outbox of the daemon: what a process that holds a forge's token, and nothing else, has to post.
CREATE TABLE outgoing (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice
    key TEXT NOT NULL UNIQUE,  -- idempotency: forge, project, branch and commit
    explanation_id INTEGER REFERENCES explanation (id) ON DELETE SET NULL,  -- the first it tells of
    forge TEXT NOT NULL,  -- address without a path, such as https://github.com
    project TEXT NOT NULL,  -- owner/name, as in the remote's address
    branch TEXT NOT NULL,  -- short name of the branch; empty: unknown
    commit_id TEXT NOT NULL,  -- head of the pull request
    number INTEGER NOT NULL,  -- of the pull request; 0: the open one with that head
    body TEXT NOT NULL,  -- path of the artefact that `afterd comment --from` reads
    state TEXT NOT NULL,  -- queued, sent, failed or dropped (a newer one took its place)
    attempts INTEGER NOT NULL,  -- how often it was tried
    not_before REAL NOT NULL,  -- not to be tried earlier than this
    url TEXT NOT NULL,  -- address of the comment once it is there
    reason TEXT NOT NULL,  -- why it failed or waits
    created REAL NOT NULL,  -- when the row was written
    updated REAL NOT NULL  -- when the row last changed
);
CREATE INDEX outgoing_queue ON outgoing (state, not_before);

-- A suite that `afterd rank` counted and ranked.
CREATE TABLE suite_ranking (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice
    repository_id INTEGER NOT NULL REFERENCES repository (id),  -- where the commit is
    good TEXT NOT NULL,  -- commit whose changes were preferred; empty: no range was given
    bad TEXT NOT NULL,  -- commit that was ranked
    suite TEXT NOT NULL,  -- the test command
    created REAL NOT NULL,  -- when it was stored
    afterd TEXT NOT NULL,  -- version of afterd that made it
    tests INTEGER NOT NULL,  -- tests that were counted
    failed INTEGER NOT NULL,  -- of these, how many failed
    entities INTEGER NOT NULL,  -- statements, blocks, edges, predicates and conditions
    notes TEXT NOT NULL  -- JSON list of sentences: what was left out
);

-- The head of a suite's ranking by one technique.
CREATE TABLE suite_ranking_line (
    ranking_id INTEGER NOT NULL REFERENCES suite_ranking (id) ON DELETE CASCADE,  -- whose
    technique TEXT NOT NULL,  -- by which technique
    position INTEGER NOT NULL,  -- place in the list, from 0
    rank INTEGER NOT NULL,  -- lines with this score or a higher one; ties share the worst place
    score REAL,  -- suspiciousness; NULL: infinite
    file TEXT NOT NULL,  -- relative to the repository
    line INTEGER NOT NULL,  -- counted from 1; 0: unknown
    function TEXT NOT NULL,  -- enclosing function; empty: unknown
    change TEXT NOT NULL,  -- change of the range that stands on the line; empty: none
    text TEXT NOT NULL,  -- the line
    PRIMARY KEY (ranking_id, technique, position)
) WITHOUT ROWID;
