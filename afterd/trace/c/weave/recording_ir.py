"""The functions that woven code calls, as LLVM IR: inlined everywhere, so that recording is a store.

``%at`` is the caller's own position in the ring. Memory from the position to the limit and a good
deal further is zero (runtime.c keeps it so), which is why a record without a second word is one
store, why the end of the ring is found after a crash, and why a word that is *not* zero at the
thread's cursor means that a signal handler has interrupted code whose position is in a register.
The cursor is volatile because LLVM believes that malloc and strlen touch no memory of ours; a
program's own malloc is traced and does.

``@__afterd_asked`` is the position behind the one record whose value is to be another, or null: a value
that a record tells is looked at where it was put (``put``), what a branch goes by just before (``decide``).
"""

RECORDING = """
@__afterd_cursor = external thread_local(initialexec) global ptr
@__afterd_limit = external thread_local(initialexec) global ptr
@__afterd_depth = external thread_local(initialexec) global i32
@__afterd_asked = internal global ptr null
@__afterd_spare = internal global [{size} x i64] zeroinitializer
@__afterd_counts = internal global ptr @__afterd_spare
@__afterd_globals = internal constant [{globals} x ptr] [{addresses}]
declare ptr @__afterd_full(ptr)
declare ptr @__afterd_interrupted(ptr)
declare void @__afterd_again(ptr, i64, i64, i32)
declare void @__afterd_main_returns(i32)
declare void @__afterd_replace(ptr)
declare void @__afterd_register(i64, i64, ptr, ptr, i64, ptr)

define internal void @__afterd_start() {{
  call void @__afterd_register(i64 {first}, i64 {total}, ptr @__afterd_counts,
                               ptr @__afterd_globals, i64 {globals}, ptr @__afterd_asked)
  ret void
}}

define internal void @__afterd_passed(ptr %at, i64 %size) alwaysinline {{
  ret void
}}

define internal void @__afterd_reload(ptr %at) alwaysinline {{
  %c = load volatile ptr, ptr @__afterd_cursor
  store ptr %c, ptr %at
  ret void
}}

define internal void @__afterd_commit(ptr %at) alwaysinline {{
  %c = load ptr, ptr %at
  store volatile ptr %c, ptr @__afterd_cursor
  ret void
}}

define internal void @__afterd_enter(ptr %at) alwaysinline {{
  %c = load ptr, ptr @__afterd_cursor
  store ptr %c, ptr %at
  %w = load i64, ptr %c
  %free = icmp eq i64 %w, 0
  br i1 %free, label %done, label %taken, !prof !{{!"branch_weights", i32 100000, i32 1}}
taken:
  %n = call ptr @__afterd_interrupted(ptr %c)
  store ptr %n, ptr %at
  br label %done
done:
  ret void
}}

define internal void @__afterd_room(ptr %at) alwaysinline {{
  %c = load ptr, ptr %at
  %l = load ptr, ptr @__afterd_limit
  %enough = icmp ult ptr %c, %l
  br i1 %enough, label %done, label %full, !prof !{{!"branch_weights", i32 100000, i32 1}}
full:
  %n = call ptr @__afterd_full(ptr %c)
  store ptr %n, ptr %at
  br label %done
done:
  ret void
}}

define internal void @__afterd_record(ptr %at, i64 %a, i64 %b) alwaysinline {{
  %c = load ptr, ptr %at
  store i64 %a, ptr %c, align 8
  %s = getelementptr i8, ptr %c, i64 8
  store i64 %b, ptr %s, align 8
  %n = getelementptr i8, ptr %c, i64 16
  store ptr %n, ptr %at
  ret void
}}

define internal void @__afterd_look(ptr %n, ptr %place) alwaysinline {{
  %w = load ptr, ptr @__afterd_asked
  %is = icmp eq ptr %n, %w
  br i1 %is, label %replaced, label %done, !prof !{{!"branch_weights", i32 1, i32 100000}}
replaced:
  call void @__afterd_replace(ptr %place)
  br label %done
done:
  ret void
}}

define internal void @__afterd_put(ptr %at, i64 %a, i64 %b, ptr %place) alwaysinline {{
  call void @__afterd_record(ptr %at, i64 %a, i64 %b)
  %n = load ptr, ptr %at
  call void @__afterd_look(ptr %n, ptr %place)
  ret void
}}

define internal void @__afterd_decide(ptr %at, ptr %place) alwaysinline {{
  %c = load ptr, ptr %at
  %n = getelementptr i8, ptr %c, i64 16
  call void @__afterd_look(ptr %n, ptr %place)
  ret void
}}

define internal void @__afterd_mark(ptr %at, i64 %a) alwaysinline {{
  %c = load ptr, ptr %at
  store i64 %a, ptr %c, align 8
  %n = getelementptr i8, ptr %c, i64 16
  store ptr %n, ptr %at
  ret void
}}

define internal void @__afterd_count(i32 %i) alwaysinline {{
  %p = load ptr, ptr @__afterd_counts
  %q = getelementptr i64, ptr %p, i32 %i
  %k = load i64, ptr %q
  %k1 = add i64 %k, 1
  store i64 %k1, ptr %q
  ret void
}}
"""
