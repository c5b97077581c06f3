// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.VarHandle;
import java.util.Map;

import org.gmp4j.lock.Keeper;
import org.gmp4j.stack.Goexit;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.HiddenExecutor;
import org.gmp4j.stack.JdkState;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.Stack;
import org.gmp4j.stack.Timeout;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.jspecify.annotations.Nullable;

/**
 * The stack of a goroutine, and the loop that runs on a pooled one: run a goroutine, end it, and run the next in place
 * when that is a fresh one (no switch at all); otherwise give the thread back to the M. Wake-ups by the JDK go through {@link JdkReady}.
 * {@link Stacks} makes them: all are of one hidden class ({@link HiddenExecutor}).
 */
public abstract class GStack extends Stack {
    /** Makes the others; the initialiser of their class puts it here. */
    @SuppressWarnings("NullAway.Init")
    static GStack made;

    private static final int FIRST_LOOK = 16;
    private static final int MOST_LOOK = 1024;
    /** After a look that counted n chunks of frames, at least n divided by this switches pass before the next: looks cost little. */
    private static final int CHUNK_SHARE = 2;
    /** Bytes of a stack, with its guard zones, that any collector moves to the heap. */
    private static final long MOVABLE = 448 << 10;

    /** The scheduler. */
    final Scheduler s;
    /** The goroutine on this stack: set by the M that gives it the stack, or in place by the stack itself. */
    long gp;
    /**
     * Labels of the goroutine, for profiles; null for none. Written by the goroutine; a profiler may read a map that was replaced a
     * moment ago, which is safe as no map ever changes.
     */
    @Nullable Map<String, String> labels;
    /** Deferred work of the goroutine, last first; null when there is none. */
    @Nullable Defer defers;
    /** What the M sets {@code m.locks} to when it runs this stack again; a new stack begins inside the runtime. */
    int locks = 1;
    /** Whether goexit was called and has not unwound the stack yet. */
    boolean exiting;

    /** For {@link Syscall}: whether the P was taken during the last system call; below it, when the present call gave it away, or 0. */
    boolean lostP;
    long gaveUpAt;

    /** For {@link JdkReady}: odd while the JDK may wake the thread. */
    volatile int ticket;

    /** For {@link SocketWait}: the ticket before the present wait, written by the goroutine. */
    int waitTicket;
    /** Whether it is taken for one that waits pinned. Written by the goroutine and by pollers; a late write costs a switch of its P. */
    boolean waitsPinned;

    /** The limit of its waits in the JDK; null until one has a limit. Written by the M that parks it. */
    private @Nullable Timeout timeout;

    /** The next in {@link Leftovers}. */
    @Nullable GStack nextLeft;
    /** How much room a section must have; more than any stack when there are too many frames on the heap. By the goroutine and its M. */
    private long room = Headroom.toTake();
    /** Switches until the M counts the frames on the heap again, and what this is set to then. Written by the M. */
    private int untilLook = FIRST_LOOK;
    private int looks = FIRST_LOOK;
    private long frozen;

    /** The bubble of the goroutine, set by itself; null for none. Whether it counts as waiting: by it and by its waker in turn. */
    @Nullable Bubble bubble;
    boolean durable;
    /** What gives the lock back when it parks as one of the bubble; set by itself, cleared by its M. */
    Park.@Nullable Unlock unlock;

    /** The unlock function of its present {@link Park#gopark}. Written by the goroutine; its M reads it. */
    Park.@Nullable Unlock parkUnlock;
    /** The argument of that, null while the goroutine does not park; likewise. */
    @Nullable Object parkLock;
    /** Whether its present wait may be ended by an interrupt, a limit of time or a context. Written by the goroutine. */
    boolean endable;
    /** Where the goroutine was started; null when that was not noted. Written by the goroutine. */
    @Nullable String site;

    /** Told how the goroutine ended, instead of {@link #report}; null for nobody. */
    @Nullable Awaited awaited;

    /** Tells its waits of interrupts; null until a wait needs it. Written by the goroutine, and kept for the next ones on this stack. */
    @Nullable InterruptHook interruptHook;

    /** See {@link #isPooled}. */
    final boolean pooled;

    /** One deferred call. */
    record Defer(Runnable fn, @Nullable Defer next) {
    }

    /** What the one below would run. */
    private static final class Nothing implements Runnable {
        @Override
        public void run() {
            throw new IllegalStateException("it only makes others");
        }
    }

    /** One that makes others and never runs. */
    @SuppressWarnings("NullAway") // Nobody asks it for its scheduler.
    GStack() {
        super(new Nothing());
        s = null;
        pooled = false;
    }

    GStack(Scheduler s) {
        super(s.goroutines);
        this.s = s;
        pooled = true;
    }

    /** A new virtual thread that this scheduler runs: see {@code Gmp.threadFactory}. */
    GStack(Scheduler s, Runnable task) {
        super(new ThreadTask(task));
        this.s = s;
        pooled = false;
        locks = 0; // It begins in the JDK's code.
    }

    /** The stack of a virtual thread that the JDK started with one of our stacks as its scheduler. */
    GStack(Scheduler s, Thread virtualThread) {
        super(virtualThread, s.inPlaceOfJdk ? s.collected.queue : null);
        this.s = s;
        pooled = false;
        locks = 0; // It begins in the JDK's code.
        if (!(JdkThreads.task(this) instanceof ThreadTask)) { // It is one already when a start that failed is tried again.
            JdkThreads.setTask(this, new ThreadTask(JdkThreads.task(this)));
        }
    }

    /** The stack this code runs on; null outside goroutines. */
    public static @Nullable GStack current() {
        return (GStack) Stack.current();
    }

    /** The same for callers that are goroutines. */
    @SuppressWarnings("NullAway")
    public static GStack mine() {
        return current();
    }

    /** The goroutine on this stack. */
    public long gp() {
        return gp;
    }

    /**
     * {@code acquirem}: from here to {@link #exit} the calling goroutine keeps the P it runs with. Every call of the
     * runtime that touches the P, or holds a runtime lock, is inside; they nest.
     *
     * <p>First m.locks is raised, then m.gate is read. The P is taken only while locks is 0, by the signal handler on this same
     * thread, or by another thread that has a fence run here first ({@link Gate}). So either the taker sees the raised locks, or
     * the read sees that the P is gone or being taken, and the goroutine gets one as after a system call. The fence between is for
     * the compiler alone.
     *
     * <p>The outermost call makes sure that the section has room on the stack: see {@link Headroom}. On a thread that is no
     * goroutine the nesting is not counted: code that may be inside another section calls {@link #enterChecked} there.
     *
     * @return its stack; null on a thread that is no goroutine
     * @throws StackOverflowError when there is too little room; nothing has happened
     */
    public static @Nullable GStack enter() {
        long left = Headroom.left(); // Before all else: after a call in the middle the compiled code would have to load everything again.
        GStack st = current();
        if (st != null) {
            st.acquirem(left);
        } else if (left < Headroom.toTake()) {
            throw Headroom.overflow();
        }
        return st;
    }

    /**
     * Before an operation of several sections that belong together, which then enter by {@link #enterChecked} or
     * {@link #enterToGive}: as {@link #enter}, without entering.
     *
     * @throws StackOverflowError when there is too little room, or too many frames are on the heap; nothing has happened
     */
    public static void checkAll() {
        Headroom.checkAll();
        GStack st = current();
        if (st != null && st.room != Headroom.toTake() && M.LOCKS.getOpaque(st.machine().mp) == 0) {
            st.checkRoom(Long.MAX_VALUE);
        }
    }

    /**
     * The same before an operation that gives back, such as a close, what was made after a {@link #checkAll} at about the same depth:
     * it asks for a little less room.
     *
     * @throws StackOverflowError when there is too little; nothing has happened
     */
    public static void checkAllToGive() {
        Headroom.checkAllToGive();
    }

    /**
     * Like {@link #enter}, to give back what was taken after an {@link #enter} at about the same depth: it asks for a little less room.
     *
     * @throws StackOverflowError when there is too little room; nothing has happened
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

    /** The same where the caller has made sure that there is room, or must not fail. */
    public static @Nullable GStack enterChecked() {
        GStack st = current();
        if (st != null) {
            st.acquirechecked();
        }
        return st;
    }

    /** {@code releasem}: undoes {@link #enter}; a point where the goroutine yields if it was told to. */
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

    /** The same where there is room, or it must not fail. */
    void acquirechecked() {
        if (!raise() && !Gate.pass(machine().mp)) {
            Syscall.exitsyscall(this);
        }
    }

    /**
     * Before a wait in the JDK for something of the runtime's. HotSpot takes interpreted frames off a thread by a recursion, and throws
     * a StackOverflowError where that has no room, from a third of the stack's depth on; or where G1 would need more than half a
     * region for them, which is 512 KiB at the least. It would come out of the middle of the JDK's lock, which is then left with a waiter
     * that never comes. So the wait is pinned there.
     *
     * @return whether {@code JdkThreads.unpin} is to follow
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
     * There is too little room, or a look of the M found too many frames on the heap. If they are still too many that is refused once, and
     * again when a look still finds so; the recursion may be over by now.
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
     * Called by the M, with the stack unmounted. Frames that were parked come back to the thread two at a time, as calls return. So a
     * recursion that parks on its way down never fills the thread's stack, but the heap. The M counts the frames there every so many
     * switches, more often while they grow. When they are too many the next section of the runtime fails as if the stack were full.
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

    /** The first half of acquirem: raises m.locks. True when the P is there and stays; otherwise {@link Gate#pass} decides. */
    boolean raise() {
        long mp = machine().mp;
        M.LOCKS.setOpaque(mp, M.LOCKS.getOpaque(mp) + 1);
        // For the compilers: no load below may move above the store. (Loads only, by the specification; HotSpot's fence keeps all that
        // come before.) The machine may: then Gate's membarrier orders the two. Costs no instruction on x86.
        VarHandle.acquireFence();
        return M.GATE.getOpaque(mp) == M.GATE_OPEN;
    }

    void releasem() {
        long mp = machine().mp;
        int depth = M.LOCKS.getOpaque(mp) - 1;
        if (depth == 0 && G.PREEMPT.getOpaque(gp) != 0 && M.P.getOpaque(mp) != 0) { // Not at the start of a system call.
            Preempt.gopreempt(this); // Still inside: it switches with the P held.
            mp = machine().mp;
        }
        VarHandle.releaseFence(); // Everything that was done to the P comes before.
        M.LOCKS.setOpaque(mp, depth);
    }

    /** The M this stack is mounted on. Never keep it across anything that may yield. */
    Machine machine() {
        return (Machine) host;
    }

    /** The P that this goroutine has, inside {@link #enter}. Never keep it across anything that may yield. */
    public long pp() {
        return machine().pp();
    }

    /** The Java side of that, likewise. */
    public Processor processor() {
        return s.proc(pp());
    }

    /**
     * Whether an interrupt ends its waits: true for a virtual thread with an identity, which other code may have a reference to, and for
     * a task that can be cancelled; false for a goroutine of {@code go}.
     */
    public boolean endsByInterrupt() {
        return !pooled || awaited != null && awaited.cancelable();
    }

    /** Whether {@code a} is told how the goroutine on this stack ends. */
    public boolean tells(Awaited a) {
        return awaited == a;
    }

    /** Labels of this goroutine for profiles, which those that it starts begin with; null for none. */
    public @Nullable Map<String, String> labels() {
        return labels;
    }

    /** Sets them; on this stack. */
    public void setLabels(@Nullable Map<String, String> labels) {
        this.labels = labels;
    }

    /** Whether to record which code held a lock for which this goroutine waits. */
    public boolean profilesLocks() {
        return s.mutexProfile.isOn();
    }

    /** This goroutine, which is inside {@link #enter}, has given back a lock for which another waited {@code nanos} ns. */
    public void held(long nanos) {
        s.mutexProfile.held(labels, s.config.debug().system(), nanos);
    }

    /** Where this goroutine was started; null when that was not noted. */
    public @Nullable String site() {
        return site;
    }

    /** Whether goroutines take turns on this stack; false for a thread with an identity, which was started as threads are. */
    public boolean isPooled() {
        return pooled;
    }

    /**
     * One of the objects that whoever is to end the present wait of this goroutine has a reference to; with the world stopped.
     *
     * @param i which of them, from 0 on
     * @return null behind the last one; for 0 also when they are not known, or the wait may be ended early
     */
    public @Nullable Keeper waitsFor(int i) {
        Park.Unlock by = parkUnlock;
        Object what = parkLock;
        return endable || by == null || what == null ? null : by.waitsFor(what, i);
    }

    /** Says whether the present wait of this goroutine may be ended early; on this stack. */
    public void setEndable(boolean endable) {
        this.endable = endable;
    }

    /** The bubble of this goroutine; null for none. */
    public @Nullable Bubble bubble() {
        return bubble;
    }

    /** The scheduler this stack belongs to. */
    public Scheduler scheduler() {
        return s;
    }

    /** Which P the calling goroutine has, or had a moment ago: for choosing among caches, no more. */
    public int pHint() {
        long pp = M.P.getOpaque(machine().mp);
        return pp == 0 ? 0 : P.ID.get(pp);
    }

    /** goexit begins: it is thrown again at every call of {@code Go} until deferred work runs. */
    public void goexit() {
        exiting = true;
    }

    /** Whether goexit was called and swallowed. */
    public boolean exiting() {
        return exiting;
    }

    /**
     * Reports how this goroutine ended, if by an exception: to its bubble, or by the policy in {@code Uncaught}. What follows
     * the call comes after the report. Never throws.
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

    /** Runs {@code fn} on this stack, the caller's, as the rest of its goroutine: with deferred work and a report. */
    public void runToEnd(Runnable fn) {
        Ends.run(this, fn);
    }

    /**
     * Runs the deferred work of this goroutine, the caller's, now.
     *
     * @param end how what it did has ended: null, {@link Goexit#INSTANCE} or an exception
     * @return the same, or what deferred work made of it
     */
    public @Nullable Throwable runDeferred(@Nullable Throwable end) {
        return Ends.deferred(this, end);
    }

    /** Adds deferred work. */
    public void defer(Runnable fn) {
        defers = new Defer(fn, defers);
    }

    @Override
    public void run() {
        do {
            runGoroutine(); // A method of its own: a local variable of this frame, interpreted, would keep the function reachable.
            room = Headroom.toTake();
            JdkThreads.forget(this);
        } while (Goexit0.goexit0(this) || JdkThreads.yield(this));
        // Reached only when there is no memory for the yield: the virtual thread ends, and the M drops the stack.
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
        Ends.run(this, fn);
        if (labels != null) {
            labels = null;
        }
        if (site != null) {
            site = null;
        }
        acquirechecked(); // At the bottom of the stack.
    }

    abstract GStack pooled(Scheduler s);

    abstract GStack ofTask(Scheduler s, Runnable task);

    abstract GStack ofThread(Scheduler s, Thread virtualThread);

    /** What {@code execute} does. */
    final void submitted(Runnable task) {
        JdkReady.execute(this, task);
    }

    @Override
    protected void escaped(Throwable t) {
        s.reports.escaped(t);
    }

    @Override
    protected @Nullable Timeout timeout() {
        if (JdkThreads.JDK_MOUNT) {
            return null;
        }
        Timeout t = timeout;
        if (t == null) {
            t = s.timers.timeout(this);
            timeout = t;
        }
        return t;
    }

    @Override
    public final void timedOut(int wait) {
        if (wait == Timeout.PARK) {
            JdkReady.parkTimedOut(this);
        } else {
            JdkState.waitTimedOut(this, wait);
        }
    }

    /** As {@link JdkReady#netReady}, for a goroutine that this stack belongs to. */
    public long netReady() {
        return JdkReady.netReady(this);
    }
}
