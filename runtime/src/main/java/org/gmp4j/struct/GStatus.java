// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The states of a goroutine, which {@code g.atomicstatus} holds, and the edges between them. Every transition is one CAS (G1).
 *
 * <pre>
 *  from         to           by, and why
 *  _Gidle       _Gdead       malg: a slot is made
 *  _Gdead       _Grunnable   newproc: it has a function to run
 *  _Grunnable   _Grunning    execute: an M with a P took it from a queue
 *  _Grunning    _Gwaiting    park_m: it waits, and its frames are off the thread
 *  _Grunning    _Grunnable   gosched_m: it yields
 *  _Grunning    _Gdead       goexit0: its function ended
 *  _Grunning    _Gsyscall    entersyscall; the signal handler, when sysmon takes the P from a G that does not yield
 *  _Gsyscall    _Grunning    exitsyscall, with a P
 *  _Gsyscall    _Grunnable   exitsyscall0: no P was idle
 *  _Gsyscall    _Gwaiting    the JDK parked it after its P was taken
 *  _Gsyscall    _Gdead       it ended after its P was taken
 *  _Grunning    _Gpreempted  gopreempt_m: it yields on request
 *  _Gpreempted  _Grunnable   gopreempt_m: it is queued again
 *  _Gpreempted  _Gwaiting    suspendG of Go; this runtime never takes this edge
 *  _Gwaiting    _Grunnable   ready: its wait is over
 *  _Gwaiting    _Grunning    park_m of Go, when the unlock function returns false; this runtime goes through _Grunnable
 *  _Gwaiting    _Gdead       the collector has taken the virtual thread, which no code could wake
 *  any s        s|_Gscan     castogscanstatus: a thread begins to hold the G in its state (G6); only in tests
 *  s|_Gscan     s            casfromgscanstatus: the thread ends the hold; only in tests
 * </pre>
 *
 * <p>The CAS has volatile semantics: it releases what its thread wrote to the G before, and acquires what the last
 * transition released. {@code go f()} therefore happens before {@code f()} runs: newproc's CAS to {@code _Grunnable}
 * is the release, execute's CAS to {@code _Grunning} the acquire.
 */
public final class GStatus {
    /** Allocated, not yet initialised. */
    public static final int GIDLE = 0;
    /** On a run queue. */
    public static final int GRUNNABLE = 1;
    /** On an M with a P. */
    public static final int GRUNNING = 2;
    /** Its M is in a system call, or runs on after its P was taken. The G must not run code of the runtime. */
    public static final int GSYSCALL = 3;
    /** Parked; in some wait queue. */
    public static final int GWAITING = 4;
    /** Free. */
    public static final int GDEAD = 6;
    /** Not used, because the JVM moves stacks itself. */
    public static final int GCOPYSTACK = 8;
    /** Stopped by preemption, not on a queue yet. */
    public static final int GPREEMPTED = 9;
    /** The bit that is added to a state while another thread holds the G in it. */
    public static final int GSCAN = 0x1000;

    private static final IntField STATUS = Struct.G.intField("atomicstatus");

    /** Bit {@code to} of element {@code from} is set if the edge is legal. */
    private static final int[] LEGAL = new int[10];

    static {
        edge(GIDLE, GDEAD);
        edge(GDEAD, GRUNNABLE);
        edge(GRUNNABLE, GRUNNING);
        edge(GRUNNING, GWAITING, GRUNNABLE, GDEAD, GSYSCALL, GPREEMPTED);
        edge(GSYSCALL, GRUNNING, GRUNNABLE, GWAITING, GDEAD);
        edge(GPREEMPTED, GRUNNABLE, GWAITING);
        edge(GWAITING, GRUNNABLE, GRUNNING, GDEAD);
    }

    private GStatus() {
    }

    private static void edge(int from, int... to) {
        for (int t : to) {
            LEGAL[from] |= 1 << t;
        }
    }

    /** Returns whether the table of this class has the edge. */
    public static boolean legal(int from, int to) {
        return from >= 0 && from < LEGAL.length && to >= 0 && to < 32 && (LEGAL[from] & 1 << to) != 0;
    }

    /** Returns the state, with the scan bit if it is set. */
    public static int readgstatus(long gp) {
        return STATUS.getAcquire(gp);
    }

    /**
     * Moves {@code gp} from one state to another. Waits while the scan bit is set.
     *
     * @throws Throw if the edge is not legal, or if the G is in a third state
     */
    public static void casgstatus(long gp, int from, int to) {
        if (!legal(from, to)) {
            throw bad(gp, from, to);
        }
        if (to == GRUNNABLE) {
            Latency.runnable(gp); // Counted before the CAS, which ends the caller's ownership of the G.
        }
        while (!STATUS.compareAndSet(gp, from, to)) {
            if ((STATUS.getVolatile(gp) & ~GSCAN) != from) {
                throw bad(gp, from, to);
            }
            Thread.onSpinWait(); // Another thread holds the G by castogscanstatus.
        }
    }

    /** Moves {@code gp} if it is in state {@code from}, and returns whether it was. Waits while the scan bit is set. Only tests need it. */
    public static boolean trycasgstatus(long gp, int from, int to) {
        while (!STATUS.compareAndSet(gp, from, to)) {
            if ((STATUS.getVolatile(gp) & ~GSCAN) != from) {
                return false;
            }
            Thread.onSpinWait();
        }
        return true;
    }

    /** Moves {@code gp} if it is in state {@code from} without the scan bit, and returns whether it was. For callers that must not wait. */
    public static boolean casgstatusOnce(long gp, int from, int to) {
        return STATUS.compareAndSet(gp, from, to);
    }

    /** Adds the scan bit to {@code from}. Returns false if the G is in another state, or the bit is set already. */
    public static boolean castogscanstatus(long gp, int from) {
        return STATUS.compareAndSet(gp, from, from | GSCAN);
    }

    /** Clears the scan bit. */
    public static void casfromgscanstatus(long gp, int to) {
        if (!STATUS.compareAndSet(gp, to | GSCAN, to)) {
            throw bad(gp, to | GSCAN, to);
        }
    }

    private static Throw bad(long gp, int from, int to) {
        return Throw.of("casgstatus: bad transition of goroutine %d: wanted %s -> %s, found %s"
                .formatted(G.GOID.get(gp), name(from), name(to), name(readgstatus(gp))));
    }

    /** Returns Go's name of a state. */
    public static String name(int status) {
        String base = switch (status & ~GSCAN) {
            case GIDLE -> "_Gidle";
            case GRUNNABLE -> "_Grunnable";
            case GRUNNING -> "_Grunning";
            case GSYSCALL -> "_Gsyscall";
            case GWAITING -> "_Gwaiting";
            case GDEAD -> "_Gdead";
            case GCOPYSTACK -> "_Gcopystack";
            case GPREEMPTED -> "_Gpreempted";
            default -> "_G" + (status & ~GSCAN);
        };
        return (status & GSCAN) == 0 ? base : base + "|_Gscan";
    }
}
