"""What woven code uses of the runtime, as LLVM IR; recording itself is written out (position.py).

``%afterd.at`` is the caller's own position in the ring. Memory from the position to the limit and a good
deal further is zero (runtime.c keeps it so), which is why a record without a second word is one
store, why the end of the ring is found after a crash, and why a word that is *not* zero at the
thread's cursor means that a signal handler has interrupted code whose position is in a register.
Where a thread has its cursor, limit and depth is asked for once a function: a block in which a variable of
a thread is read by its name takes LLVM three times as long, as its quick selection of instructions ends there.
The cursor is volatile because LLVM believes that malloc and strlen touch no memory of ours; a
program's own malloc is traced and does.

``@__afterd_asked`` is the position behind the one record whose value is to be another, or null: a value
that a record tells is looked at where it was put, what a branch goes by just before.
"""

RECORDING = """
@__afterd_thread = external thread_local(initialexec) global {{ ptr, ptr, i32 }}
{address}@__afterd_asked = internal global ptr null
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

define internal ptr @__afterd_entered(ptr %at, ptr %limit) noinline {{
  %w = load i64, ptr %at
  %free = icmp eq i64 %w, 0
  br i1 %free, label %first, label %taken
taken:
  %n = call ptr @__afterd_interrupted(ptr %at)
  br label %first
first:
  %c = phi ptr [ %at, %0 ], [ %n, %taken ]
  %l = load ptr, ptr %limit
  %full = icmp uge ptr %c, %l
  br i1 %full, label %more, label %done
more:
  %m = call ptr @__afterd_full(ptr %c)
  ret ptr %m
done:
  ret ptr %c
}}
"""
