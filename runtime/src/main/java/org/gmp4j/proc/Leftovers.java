// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.stack.JdkState;

/**
 * Stacks that the JDK asked us to park, or whose thread has ended, and for which it could not finish what it does then: a timed
 * park sets an alarm, and there was no memory. Sysmon tries again at each look. Meanwhile the thread is in the JDK's eyes
 * still about to park, which nobody minds: an unpark leaves a permit, a notify a mark, and both are seen when it has parked.
 */
final class Leftovers {
    private static final VarHandle FIRST;

    static {
        try {
            FIRST = MethodHandles.lookup().findVarHandle(Leftovers.class, "first", GStack.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** By {@link GStack#nextLeft}; Ms push, sysmon takes all. */
    private volatile GStack first;

    /** From the M that has unmounted the stack: the CAS hands it to sysmon. */
    void add(GStack st) {
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

    /** From sysmon. */
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
                add(st);
            }
        }
    }
}
