// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.lock.WaitObject;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.HiddenStacks;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Goexit;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkState;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.HeapInt;
import org.gmp4j.struct.JdkWait;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * The stack of a goroutine, and the loop of a pooled stack. The loop runs a goroutine, ends it, and runs the next goroutine without a
 * switch if that goroutine is fresh. Otherwise the stack yields the thread to the M. The subclass {@code JdkStack} has the methods that the
 * JDK calls.
 */
public abstract class GStack extends Stack {
    /** A value of {@link #waitTicket} that no ticket has. */
    public static final int NO_TICKET = -1;
    private static final HeapInt<GStack> TICKET = HeapInt.of(MethodHandles.lookup(), GStack.class, "ticket");

    /** The least and the most switches between two counts of the frames on the heap. */
    private static final int FIRST_LOOK = 16;
    private static final int MOST_LOOK = 1024;
    /** If a count finds n chunks of frames, the next count comes after at least n / CHUNK_SHARE switches. So counts cost little. */
    private static final int CHUNK_SHARE = 2;
    /** The depth, in bytes and with the guard zones, up to which any collector can move the frames to the heap. */
    private static final long MOVABLE = 448 << 10;

    /** The scheduler. */
    public final Scheduler s;
    /**
     * The goroutine on this stack. Written by the M that gives the stack to the goroutine, or by the stack itself when its next goroutine
     * begins there.
     */
    public long gp;
    /**
     * The goroutine's labels for profiles; null for none. Written by the goroutine. A profiler may read a map that was just replaced, which
     * is safe because no map ever changes.
     */
    @Nullable Map<String, String> labels;
    /** Deferred work of the goroutine, last first; null when there is none. */
    @Nullable Defer defers;
    /** The value of {@code m.locks} when the M runs this stack again. A new stack begins inside the runtime. */
    int locks = 1;
    /** Whether goexit was called and has not unwound the stack yet. */
    boolean exiting;

    /** Whether the P was taken during the last system call ({@link Syscall}). Written by the goroutine. */
    boolean lostP;
    /** The nanoTime at which the present system call handed its P off ({@link Syscall}); 0 if it has not. Written by the goroutine. */
    long gaveUpAt;

    /** Odd while the JDK may wake the thread. The parking M makes it odd; a waker makes it even, by CAS on {@link #TICKET}. */
    private volatile int ticket;

    /** The ticket before the last wait for a socket ({@code SocketWait}). Written by the goroutine, read by its M. */
    public int waitTicket = NO_TICKET;
    /**
     * Whether the goroutine is assumed to wait pinned. Written by the goroutine and by pollers. A stale value costs one hand-off of the P
     * too many or too few.
     */
    public boolean waitsPinned;

    /**
     * The room on the stack that a section of the runtime must have; {@code Long.MAX_VALUE} when there are too many frames on the heap.
     * Written by the goroutine and its M.
     */
    private long room = Headroom.toTake();
    /** The number of switches until the M next counts the frames on the heap. The M writes this field and the next two. */
    private int untilLook = FIRST_LOOK;
    /** The number of switches between two counts, if there are few chunks. */
    private int looks = FIRST_LOOK;
    /** The bytes of frames on the heap at the last count. */
    private long frozen;

    /** The bubble of the goroutine; null for none. Written by the goroutine. */
    @Nullable Bubble bubble;
    /** Whether the bubble counts the goroutine as waiting. Written by the goroutine and by its waker in turn. */
    boolean durable;
    /** The unlock function of the goroutine's wait, which the bubble's unlock function calls. Set by the goroutine, cleared by its M. */
    Park.@Nullable Unlock unlock;

    /** The unlock function of the goroutine's present {@link Park#gopark}. Written by the goroutine, read by its M. */
    Park.@Nullable Unlock parkUnlock;
    /** The argument of the unlock function; null while the goroutine does not park. Written by the goroutine, read by its M. */
    @Nullable Object parkLock;
    /** Whether an interrupt, a limit of time or a context may end the goroutine's present wait. Written by the goroutine. */
    boolean endable;
    /** The place where the goroutine was started; null when that was not recorded. Written by the goroutine, or by its starter. */
    public @Nullable String site;

    /** The object that is notified of the goroutine's end, in place of {@link #report}; null for none. */
    @Nullable Awaited awaited;

    /** See {@link #isPooled}. */
    final boolean pooled;

    /** One deferred call. */
    record Defer(Runnable fn, @Nullable Defer next) {
    }

    /** The task of the instance that makes the other stacks. It never runs. */
    private static final class Nothing implements Runnable {
        @Override
        public void run() {
            throw new IllegalStateException("it only makes others");
        }
    }

    /** Makes the instance that makes the other stacks and never runs. */
    @SuppressWarnings("NullAway") // Its scheduler is never used.
    protected GStack() {
        super(new Nothing());
        s = null;
        pooled = false;
    }

    /** Makes a pooled stack. */
    protected GStack(Scheduler s) {
        super(s.goroutines);
        this.s = s;
        pooled = true;
    }

    /** Makes a new virtual thread that this scheduler runs: see {@code Gmp.threadFactory}. */
    protected GStack(Scheduler s, Runnable task) {
        super(task);
        this.s = s;
        pooled = false;
        locks = 0; // The stack begins in the JDK's code.
    }

    /** Makes the stack of a virtual thread whose scheduler in the JDK is a GStack. */
    protected GStack(Scheduler s, Thread virtualThread) {
        super(virtualThread, s.inPlaceOfJdk ? s.collected.queue : null);
        this.s = s;
        pooled = false;
        locks = 0; // The stack begins in the JDK's code.
    }

    /** Returns the stack on which the caller runs; null outside goroutines. */
    public static @Nullable GStack current() {
        return (GStack) Stack.current();
    }

    /** Returns the stack on which the caller runs, which is a goroutine. */
    @SuppressWarnings("NullAway")
    public static GStack mine() {
        return current();
    }

    /** Returns the stack of a goroutine, even while a search for leaks has hidden it; null when it has none. */
    public static @Nullable GStack of(Scheduler s, long gp) {
        GStack st = (GStack) GSlots.stack(gp);
        HiddenStacks hidden = s.hidden;
        if (st != null) {
            return st;
        }
        return (GStack) (hidden != null ? hidden.stack(gp) : GSlots.stack(gp)); // The search may have put it back.
    }

    /** Returns the goroutine on this stack. */
    public long gp() {
        return gp;
    }

    /**
     * {@code acquirem}: begins a section of the runtime, in which the calling goroutine keeps its P until {@link #exit}. Every call of
     * the runtime that touches the P, or holds a runtime lock, is inside a section. Sections nest.
     *
     * <p>First this raises m.locks, then it reads m.gate. The P is taken only while m.locks is 0. The taker is the signal handler on this
     * thread, or another thread that first makes this thread execute a fence ({@link Gate}). So either the taker sees the raised m.locks,
     * or this read sees that the P is gone or being taken. If it is gone, the goroutine gets a P as after a system call. The fence between
     * the two accesses is for the compiler alone.
     *
     * <p>The outermost call ensures that the section has room on the stack: see {@link Headroom}. On a thread that is not a goroutine,
     * nesting is not counted, so code that may be inside another section calls {@link #enterChecked} instead.
     *
     * @return the caller's stack; null on a thread that is not a goroutine
     * @throws StackOverflowError when there is too little room; nothing has changed
     */
    public static @Nullable GStack enter() {
        long left = Headroom.left(); // This call comes first. If it came later, compiled code would have to reload values after it.
        GStack st = current();
        if (st != null) {
            st.acquirem(left);
        } else if (left < Headroom.toTake()) {
            throw Headroom.overflow();
        }
        return st;
    }

    /**
     * Checks that there is room on the stack, as {@link #enter} does, but enters no section. Called before an operation of several
     * sections, of which all must run or none. These sections then begin with {@link #enterChecked} or {@link #enterToGive}.
     *
     * @throws StackOverflowError when there is too little room, or too many frames are on the heap; nothing has changed
     */
    public static void checkAll() {
        Headroom.checkAll();
        GStack st = current();
        if (st != null && st.room != Headroom.toTake() && M.LOCKS.getOpaque(st.machine().mp) == 0) {
            st.checkRoom(Long.MAX_VALUE);
        }
    }

    /**
     * Checks that there is room on the stack for an operation that releases something, such as a close. It demands a little less room than
     * {@link #checkAll}. So an object that was made at about the same depth can also be released there.
     *
     * @throws StackOverflowError when there is too little room; nothing has changed
     */
    public static void checkAllToGive() {
        Headroom.checkAllToGive();
    }

    /**
     * Begins a section like {@link #enter}, for an operation that releases something. It demands a little less room than enter. So a lock
     * that was taken at about the same depth can also be released there.
     *
     * @return the caller's stack; null on a thread that is not a goroutine
     * @throws StackOverflowError when there is too little room; nothing has changed
     */
    public static @Nullable GStack enterToGive() {
        GStack st = current();
        if ((st == null || M.LOCKS.getOpaque(st.machine().mp) == 0) && !Headroom.enough()) {
            throw Headroom.overflow();
        }
        if (st != null) {
            st.acquirechecked();
        }
        return st;
    }

    /** Begins a section like {@link #enter}, without a check of the room, for callers that have checked it or must not fail. */
    public static @Nullable GStack enterChecked() {
        GStack st = current();
        if (st != null) {
            st.acquirechecked();
        }
        return st;
    }

    /**
     * {@code releasem}: ends the section that {@link #enter} began. At the end of the outermost section the goroutine yields if g.preempt
     * is set.
     */
    public static void exit(@Nullable GStack st) {
        if (st != null) {
            st.releasem();
        }
    }

    void acquirem() {
        acquirem(Headroom.left());
    }

    private void acquirem(long left) {
        if (left < room && M.LOCKS.getOpaque(machine().mp) == 0) {
            checkRoom(left);
        }
        acquirechecked();
    }

    /** Does acquirem without a check of the room, for callers that have checked it or must not fail. */
    void acquirechecked() {
        if (!raise() && !Gate.pass(machine().mp)) {
            Syscall.exitsyscall(this);
        }
    }

    /**
     * Pins the calling goroutine if its stack is deep. Called before a wait in the JDK for an object of the runtime. HotSpot takes
     * interpreted frames off a thread by a recursion. It throws a StackOverflowError if the recursion has no room, which may happen once a
     * third of the stack is in use. It also throws if G1 would need more than half a region, which is at least 512 KiB, for the frames. The
     * error would leave the JDK's code for the lock halfway, and the lock would keep a waiter that is gone.
     *
     * @return whether the goroutine was pinned, so that the caller must call {@code JdkThreads.unpin}
     */
    public static boolean pinIfDeep() {
        GStack st = current();
        boolean deep = false;
        if (st != null) {
            long all = st.s.config.maxStack() + Headroom.OF_THREAD;
            deep = all - Headroom.left() > Math.min(all / 4, MOVABLE);
        }
        if (deep) {
            JdkThreads.pin();
        }
        return deep;
    }

    /**
     * Throws if there is too little room on the stack, or if too many frames are on the heap, now as at the M's last count. Each count of
     * the M refuses at most one section, because the recursion may end meanwhile. The next count decides about later sections.
     */
    private void checkRoom(long left) {
        if (left < Headroom.toTake()) {
            throw Headroom.overflow();
        }
        room = Headroom.toTake();
        if (JdkThreads.frozen(this) > s.config.maxStack()) {
            throw new StackOverflowError("goroutine stack exceeds " + s.config.maxStack() + "-byte limit");
        }
    }

    /**
     * Counts the stack's frames on the heap every {@link #untilLook} switches. Called by the M, with the stack unmounted. When a parked
     * goroutine runs again, its frames return to the thread two at a time, as its calls return. So a recursion that parks on its way down
     * fills the heap instead of the thread's stack. Counts are more frequent while the frames increase. If there are too many, the next
     * section of the runtime fails as if the stack were full.
     */
    void parked() {
        if (--untilLook == 0) {
            long bytes = JdkThreads.frozen(this);
            if (bytes > s.config.maxStack()) {
                room = Long.MAX_VALUE;
            }
            looks = bytes > frozen ? FIRST_LOOK : Math.min(looks * 2, MOST_LOOK);
            frozen = bytes;
            untilLook = Math.max(looks, chunks / CHUNK_SHARE);
        }
    }

    /** Raises m.locks, the first half of acquirem. Returns true if the M has its P. Otherwise {@link Gate#pass} decides. */
    boolean raise() {
        long mp = machine().mp;
        M.LOCKS.setOpaque(mp, M.LOCKS.getOpaque(mp) + 1);
        // Keeps the compilers from moving a later load above the store. (By the specification the fence orders earlier loads only;
        // HotSpot's fence orders all earlier accesses.) The CPU may still reorder the store and the load, and Gate's membarrier prevents
        // that. On x86 the fence needs no instruction.
        VarHandle.acquireFence();
        return M.GATE.getOpaque(mp) == M.GATE_OPEN;
    }

    void releasem() {
        long mp = machine().mp;
        int depth = M.LOCKS.getOpaque(mp) - 1;
        // A goroutine that begins a system call has given its P up, and does not yield.
        if (depth == 0 && G.PREEMPT.getOpaque(gp) != 0 && M.P.getOpaque(mp) != 0) {
            Preempt.gopreempt(this); // Yields before locks is lowered, so that the goroutine still has its P.
            mp = machine().mp;
        }
        VarHandle.releaseFence(); // All accesses to the P come before the store. Partner: the acquire of m.locks in Gate.take.
        M.LOCKS.setOpaque(mp, depth);
    }

    /** Returns the M on which this stack is mounted. The result must not be used after a call that may yield. */
    public Machine machine() {
        return (Machine) host;
    }

    /** Returns the goroutine's P. Called inside a section. The result must not be used after a call that may yield. */
    public long pp() {
        return machine().pp();
    }

    /**
     * {@code cheaprandn}: returns a pseudo-random number from 0 to {@code n} - 1.
     *
     * @param st the caller's stack, inside a section; null for a thread that is not an M
     */
    public static int cheaprandn(@Nullable GStack st, int n) {
        int r = st != null ? st.machine().cheaprand() : ThreadLocalRandom.current().nextInt();
        return (int) ((r & 0xFFFF_FFFFL) * n >>> Integer.SIZE);
    }

    /** Returns the Java side of the goroutine's P. Called inside a section. The result must not be used after a call that may yield. */
    public Processor processor() {
        return s.proc(pp());
    }

    /**
     * Returns whether an interrupt ends the goroutine's waits. An interrupt ends the waits of a virtual thread with an identity, to which
     * other code may have a reference, and of a task that can be cancelled. It does not end the waits of a goroutine of {@code go}.
     */
    public boolean endsByInterrupt() {
        return !pooled || awaited != null && awaited.cancelable();
    }

    /** Returns whether {@code a} is notified of the end of the goroutine on this stack. */
    public boolean tells(Awaited a) {
        return awaited == a;
    }

    /**
     * Returns a number that changes with each wait in the JDK for which the goroutine leaves its thread. It does not change during a wait.
     */
    public int jdkWaits() {
        return ticket;
    }

    /** Returns the goroutine's labels for profiles, which the goroutines that it starts inherit; null for none. */
    public @Nullable Map<String, String> labels() {
        return labels;
    }

    /** Sets the goroutine's labels. Called on this stack. */
    public void setLabels(@Nullable Map<String, String> labels) {
        this.labels = labels;
    }

    /** Returns whether the mutex profile is on. */
    public boolean profilesLocks() {
        return s.mutexProfile.isOn();
    }

    /** Records that this goroutine has released a lock for which another goroutine waited {@code nanos} ns. Called inside a section. */
    public void held(long nanos) {
        s.mutexProfile.held(labels, s.config.debug().system(), nanos);
    }

    /** Returns the place where this goroutine was started; null when that was not recorded. */
    public @Nullable String site() {
        return site;
    }

    /** Returns whether this stack runs several goroutines in turn. It is false for a thread with an identity. */
    public boolean isPooled() {
        return pooled;
    }

    /**
     * Returns one of the objects that the goroutine waits for; its waker needs a reference to one of them. Called with the world stopped.
     *
     * @param i the number of the object, from 0
     * @return null when there are no more objects. For number 0 null also means that the objects are not known, or that the wait may be
     *     ended early
     */
    public @Nullable WaitObject waitsFor(int i) {
        Park.Unlock by = parkUnlock;
        Object what = parkLock;
        return endable || by == null || what == null ? null : by.waitsFor(what, i);
    }

    /** Opens the ticket, by which the JDK may wake the thread. Called by the M before the JDK publishes that the thread waits. */
    void openTicket() {
        ticket++; // Not atomic, because only the M that parks the G writes an even ticket.
    }

    /** Returns the ticket: see {@code JdkReady}. */
    public int ticket() {
        return ticket;
    }

    /** Closes ticket {@code n}. Returns whether this call has closed it; if so, the caller owns the wake-up. */
    public boolean closeTicket(int n) {
        return TICKET.compareAndSet(this, n, n + 1);
    }

    /**
     * Returns why the goroutine waits in the JDK, or is about to wait. Uses neither the goroutine's frames nor the kernel. A wait for a
     * descriptor is {@link WaitReason#IO_WAIT}.
     */
    WaitReason jdkReason() {
        try {
            Object blocker = LockSupport.getBlocker(thread);
            boolean socket = blocker == null && (ticket | 1) == (waitTicket | 1); // In a SocketWait the ticket becomes odd.
            return JdkWait.of(JdkState.wait(this), blocker == null ? null : blocker.getClass(), socket ? WaitReason.IO_WAIT : null);
        } catch (OutOfMemoryError e) { // The first use of a class's name allocates it.
            return WaitReason.JDK;
        }
    }

    /** Sets whether the present wait of this goroutine may be ended early. Called on this stack. */
    public void setEndable(boolean endable) {
        this.endable = endable;
    }

    /** Returns the bubble of this goroutine; null for none. */
    public @Nullable Bubble bubble() {
        return bubble;
    }

    /** Returns the scheduler to which this stack belongs. */
    public Scheduler scheduler() {
        return s;
    }

    /** Returns the id of the P that the calling goroutine has, or had a moment ago; 0 for none. It is a hint for the choice of a cache. */
    public int pHint() {
        long pp = M.P.getOpaque(machine().mp);
        return pp == 0 ? 0 : P.ID.get(pp);
    }

    /** Records that goexit has begun. Until deferred work runs, every call of {@code Go} throws the {@link Goexit} again. */
    public void goexit() {
        exiting = true;
    }

    /** Returns whether goexit was called and has not ended the goroutine's function yet. User code may have caught it. */
    public boolean exiting() {
        return exiting;
    }

    /**
     * If this goroutine ended by an exception, reports it to the bubble, or without a bubble by the policy in {@code Uncaught}. The report
     * is complete when this returns. Never throws.
     *
     * @param end null, {@link Goexit#INSTANCE} or an exception
     */
    public void report(@Nullable Throwable end) {
        if (end == null || end == Goexit.INSTANCE) {
            return;
        }
        if (bubble != null) {
            bubble.failed(end);
        } else {
            s.reports.uncaught(this, end);
        }
    }

    /**
     * Runs {@code fn} on this stack, which is the caller's, as the rest of the goroutine. Then deferred work runs, and the end is reported.
     */
    public void runToEnd(Runnable fn) {
        GoroutineExit.run(this, fn);
    }

    /**
     * Runs the deferred work of the calling goroutine now. Called on this stack.
     *
     * @param end the outcome so far: null, {@link Goexit#INSTANCE} or an exception
     * @return the outcome after the deferred work, of the same kinds
     */
    public @Nullable Throwable runDeferred(@Nullable Throwable end) {
        return GoroutineExit.deferred(this, end);
    }

    /** Adds deferred work. */
    public void defer(Runnable fn) {
        defers = new Defer(fn, defers);
    }

    @Override
    public void run() {
        do {
            runGoroutine(); // A method of its own, because an interpreted frame would keep the function in a local variable reachable.
            room = Headroom.toTake();
            JdkThreads.forget(this);
        } while (Goexit0.goexit0(this) || JdkThreads.yield(this));
        // Reached only when there is no memory for the yield. The virtual thread then ends, and the M drops the stack.
    }

    @SuppressWarnings("NullAway") // A goroutine that begins has a function.
    private void runGoroutine() {
        Runnable fn = GSlots.fn(gp);
        if (fn instanceof Labelled l) {
            labels = l.labels();
            site = l.site();
            fn = l.fn();
        }
        releasem();
        GoroutineExit.run(this, fn);
        if (labels != null) {
            labels = null;
        }
        if (site != null) {
            site = null;
        }
        acquirechecked(); // There is room: this is the bottom of the stack.
    }
}
