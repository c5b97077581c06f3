// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.lock.Note;
import org.gmp4j.stack.JdkState;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Stacks for which the JDK could not finish a park, or the end of a thread, for want of memory: a timed park, for example, sets an
 * alarm when the stack is off the M already. Sysmon is rung, and tries again at each look. Meanwhile the thread's state in the JDK is
 * that of one about to park, which does no harm: an unpark leaves a permit, a notify a mark, and both are seen when it has parked.
 */
final class Leftovers {
    private static final VarHandle FIRST = FieldHandle.of(MethodHandles.lookup(), Leftovers.class, "first", GStack.class);

    /** A list by {@link GStack#nextLeft}; Ms push, sysmon takes all. */
    private volatile @Nullable GStack first;

    /** From an M that has unmounted the stack, and may have no P: so the scheduler's sysmon may sleep for long. */
    void add(long sched, GStack st) {
        push(st);
        Note.ring(Schedt.sysmonnoteAddress(sched)); // After the CAS. Sysmon clears the note and then looks at the list.
    }

    /** The CAS hands the stack to sysmon. */
    private void push(GStack st) {
        GStack old;
        do {
            old = first;
            st.nextLeft = old;
        } while (!FIRST.compareAndSet(this, old, st));
    }

    /** See {@link Warm}. */
    static void rehearse() {
        Leftovers none = new Leftovers();
        boolean _ = FIRST.compareAndSet(none, (GStack) null, (GStack) null);
        none.first = (GStack) FIRST.getAndSet(none, (GStack) null);
    }

    boolean any() {
        return first != null;
    }

    /** Tries again; called by sysmon. */
    void look() {
        if (first == null) {
            return;
        }
        GStack all = (GStack) FIRST.getAndSet(this, (GStack) null);
        while (all != null) {
            GStack st = all;
            all = st.nextLeft; // Before the thread can be run again, and come back here.
            st.nextLeft = null;
            if (!(st.ended() ? JdkState.afterDone(st) : JdkState.afterYield(st))) {
                push(st); // Sysmon looks again by itself.
            }
        }
    }
}
