// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The states of a P, which {@code p.status} holds, and the edges between them.
 *
 * <pre>
 *  from        to          by, and why
 *  _Pdead      _Pgcstop    procresize: the P exists (again)
 *  _Pgcstop    _Pidle      startTheWorld, or procresize when it hands the Ps out
 *  _Pidle      _Prunning   acquirep: an M took it (P1)
 *  _Prunning   _Pidle      releasep (P2)
 *  _Prunning   _Psyscall   entersyscall (P3)
 *  _Psyscall   _Prunning   exitsyscall: no other thread has taken the P
 *  _Psyscall   _Pidle      retake, handoffp: the call lasts
 *  any but     _Pgcstop    stopTheWorld, gcstopm (P4)
 *    _Pdead
 *  _Pgcstop    _Pdead      procresize reduces the number of Ps (P5)
 * </pre>
 *
 * <p>Edges out of {@code _Psyscall} race between the returning M, sysmon and stopTheWorld. The thread whose CAS succeeds has the P. Each
 * other edge has one writer: the M that holds the P, or the thread that holds {@code sched.lock} while no M holds the P.
 */
public final class PStatus {
    /** In {@code sched.pidle}, without an M. */
    public static final int PIDLE = 0;
    /** Held by an M. */
    public static final int PRUNNING = 1;
    /** Its M is in a system call and may take it again. */
    public static final int PSYSCALL = 2;
    /** Stopped with the world. */
    public static final int PGCSTOP = 3;
    /** Not in use, because procresize has reduced the number of Ps. */
    public static final int PDEAD = 4;

    private static final IntField STATUS = Struct.P.intField("status");

    private PStatus() {
    }

    /** Returns the state. */
    public static int get(long pp) {
        return STATUS.getAcquire(pp);
    }

    /** Sets the state of a P that only the caller may move. The release pairs with the acquire of {@link #get}. */
    public static void set(long pp, int status) {
        STATUS.setRelease(pp, status);
    }

    /** Sets the state, with a full fence after the store. The partner is stopTheWorld, which sets gcwaiting and then reads the state. */
    public static void setVolatile(long pp, int status) {
        STATUS.setVolatile(pp, status);
    }

    /** Moves the P if it is still in state {@code from}, and returns whether it was. */
    public static boolean cas(long pp, int from, int to) {
        return STATUS.compareAndSet(pp, from, to);
    }

    /** Returns Go's name of a state. */
    public static String name(int status) {
        return switch (status) {
            case PIDLE -> "_Pidle";
            case PRUNNING -> "_Prunning";
            case PSYSCALL -> "_Psyscall";
            case PGCSTOP -> "_Pgcstop";
            case PDEAD -> "_Pdead";
            default -> "_P" + status;
        };
    }
}
