// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link NotifyList}. */
class NotifyListTest {
    /** The one that drew the first ticket is called first, though the second is the first to sleep. */
    @Test
    void calledByTicket() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                NotifyList list = new NotifyList();
                int first = list.add();
                int second = list.add();
                Chan<Integer> called = Chan.make(2);
                sleeper(list, second, called);
                sleeper(list, first, called);
                notifyOne(list);
                assertEquals(first, called.recv());
                notifyOne(list);
                assertEquals(second, called.recv());
            });
        }
    }

    /** One that is called on the way to sleep does not sleep. */
    @Test
    void calledBeforeTheSleep() {
        NotifyList list = new NotifyList();
        int ticket = list.add();
        notifyOne(list);
        await(list, ticket); // Hangs if the call was lost.
    }

    /** A ticket that was given up costs no call, whether it would have been called next, later, or had been already. */
    @Test
    void dropped() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                NotifyList list = new NotifyList();
                Chan<Integer> called = Chan.make(3);
                int[] tickets = new int[6];
                for (int i = 0; i < tickets.length; i++) {
                    tickets[i] = list.add();
                }
                for (int i : new int[] {1, 3, 5}) {
                    sleeper(list, tickets[i], called);
                }
                drop(list, tickets[2]);
                drop(list, tickets[0]);
                notifyOne(list);
                assertEquals(tickets[1], called.recv());
                notifyOne(list);
                assertEquals(tickets[3], called.recv());
                notifyOne(list);
                drop(list, tickets[4]); // It has the call already.
                assertEquals(tickets[5], called.recv());
            });
        }
    }

    private static void drop(NotifyList list, int ticket) {
        GStack st = GStack.enter();
        list.drop(ticket);
        GStack.exit(st);
    }

    /** Starts a goroutine, and returns when it sleeps until its ticket is called. */
    private static void sleeper(NotifyList list, int ticket, Chan<Integer> called) {
        Go.go(() -> {
            await(list, ticket);
            called.send(ticket);
        });
        TestGmp.awaitOthers();
    }

    private static void await(NotifyList list, int ticket) {
        GStack st = GStack.enter();
        boolean _ = list.await(ticket, null, WaitReason.COND_WAIT);
        GStack.exit(st);
    }

    private static void notifyOne(NotifyList list) {
        GStack st = GStack.enter();
        list.notifyOne();
        GStack.exit(st);
    }
}
