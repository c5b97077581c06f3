// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.lang.invoke.MethodHandles;

import org.gmp4j.lock.Note;
import org.gmp4j.stack.JdkState;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.HeapRef;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Stacks for which the JDK could not complete a park, or the end of a thread, for lack of memory. A timed park, for example, allocates a
 * timer when the stack is already off the M. The M wakes sysmon, which tries again in each scan. Meanwhile the thread's state in the JDK
 * says that the thread is about to park. An unpark leaves a permit, a notify leaves a mark, and the park sees both when it completes.
 */
public final class UnfinishedSwitches {
    private static final HeapRef<UnfinishedSwitches, Stack> FIRST = HeapRef.of(MethodHandles.lookup(), UnfinishedSwitches.class, "first",
            Stack.class);

    /** The list, linked by {@link Stack#nextUnfinished}. Ms push to it, and sysmon takes all of it. */
    private volatile @Nullable Stack first;

    /** Adds a stack, and wakes sysmon, which may sleep for long. Called by the M that has unmounted the stack. The M may have no P. */
    public void add(long sched, Stack st) {
        push(st);
        Note.ring(Schedt.sysmonnoteAddress(sched)); // Follows the CAS, because sysmon clears the note and then reads the list.
    }

    /** Pushes a stack; the CAS hands it to sysmon. */
    private void push(Stack st) {
        Stack old;
        do {
            old = first;
            st.nextUnfinished = old;
        } while (!FIRST.compareAndSet(this, old, st));
    }

    public boolean any() {
        return first != null;
    }

    /** Tries again for all stacks in the list. Called by sysmon. */
    public void look() {
        if (first == null) {
            return;
        }
        Stack all = FIRST.getAndSet(this, null);
        while (all != null) {
            Stack st = all;
            all = st.nextUnfinished; // Read before the stack can run again, and then be added again.
            st.nextUnfinished = null;
            if (!(st.ended() ? JdkState.afterDone(st) : JdkState.afterYield(st))) {
                push(st); // Sysmon need not be woken, because it scans again while the list is not empty.
            }
        }
    }
}
