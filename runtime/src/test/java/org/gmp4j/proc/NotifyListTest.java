package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link NotifyList}. */
class NotifyListTest {
    /** Who drew the first ticket is called first, though the second is the first to sleep. */
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

    /** Who is called on the way to sleep does not sleep. */
    @Test
    void calledBeforeTheSleep() {
        NotifyList list = new NotifyList();
        int ticket = list.add();
        notifyOne(list);
        await(list, ticket); // Hangs if the call was lost.
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
        list.await(ticket);
        GStack.exit(st);
    }

    private static void notifyOne(NotifyList list) {
        GStack st = GStack.enter();
        list.notifyOne();
        GStack.exit(st);
    }
}
