// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.gmp4j.Go;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.wait.Sema;

/**
 * Programs of fairness, order and refusals, on one P. One goroutine begins all others, so their order is the same in each schedule, and it
 * can say what must come next.
 */
final class Exact {
    private static final String GROUP = "sync";
    /** Longer than a mutex lets a waiter starve, ns. */
    private static final long STARVES = 1_500_000;

    private Exact() {
    }

    private static Program of(String name, String what, int parts, Consumer<Loop> body) {
        return Program.ofLoop(name, what, () -> new Loop(1, parts, l -> l.go(() -> {
            body.accept(l);
            l.done();
        }))).in(GROUP).waking(0, 0);
    }

    static List<Program> all() {
        return List.of(
                of("starving", "a waiter that has starved gets the lock before the newcomer that has it now", 2, Exact::starving),
                of("starving-left", "a starved waiter that gives up leaves a lock that others can take", 2, Exact::starvingLeft),
                of("first-again", "a waiter that was woken in vain stays the first", 3, Exact::firstAgain),
                of("handed-over", "a waiter that is handed a unit runs at once", 2, Exact::handedOver),
                of("semaphore-order", "a small request does not pass a large one", 2, Exact::semaphoreOrder),
                of("group-reused", "a waiter is told that the next round began before it went on", 2, Exact::groupReused),
                of("group-left", "a waiter that gave up is not released in the next round's place", 3, Exact::groupLeft),
                Program.ofLoop("group-reports", "a group is done when what ended its goroutine was reported",
                        () -> new Loop(2, 1, l -> l.go(() -> groupReports(l)))).in(GROUP));
    }

    /** Enters a lock, notes it, and leaves it. */
    private static void enter(Mutex m, List<String> order, String name) {
        m.lock();
        order.add(name);
        m.unlock();
    }

    private static void starving(Loop l) {
        Mutex m = new Mutex();
        List<String> order = new ArrayList<>();
        m.lock();
        Loop.runs(() -> {
            enter(m, order, "waiter");
            l.done();
        });
        Loop.sleep(STARVES);
        m.unlock();
        m.lock(); // The waiter was woken, and does not run yet.
        Go.gosched(); // It runs in vain, and starves from now on.
        m.unlock();
        enter(m, order, "newcomer");
        check(order.getFirst().equals("waiter"), "a newcomer came before a waiter that starves");
    }

    private static void starvingLeft(Loop l) {
        Mutex m = new Mutex();
        m.lock();
        Loop.runs(() -> {
            check(!m.lockWithin(Duration.ofNanos(3 * STARVES)), "the lock was taken from the one who had it");
            l.done();
        });
        Loop.sleep(STARVES);
        m.unlock();
        m.lock();
        Loop.sleep(4 * STARVES);
        m.unlock();
        check(m.tryLock(), "the lock belongs to a waiter that has left");
    }

    private static void firstAgain(Loop l) {
        Mutex m = new Mutex();
        List<String> order = new ArrayList<>();
        m.lock();
        for (String name : List.of("first", "second")) {
            Loop.runs(() -> {
                enter(m, order, name);
                l.done();
            });
        }
        m.unlock();
        m.lock();
        Go.gosched(); // The first is woken in vain.
        m.unlock();
        Go.gosched();
        Go.gosched();
        check(order.getFirst().equals("first"), "a waiter that was woken in vain went to the end of the line");
    }

    /** Calls the semaphore as the locks do, inside a section of the runtime. */
    private static void inside(Runnable call) {
        GStack st = GStack.enter();
        call.run();
        GStack.exit(st);
    }

    private static void handedOver(Loop l) {
        Sema sema = new Sema();
        Loop.runs(() -> {
            inside(() -> sema.acquire(false, WaitReason.MUTEX_LOCK));
            l.done();
        });
        inside(() -> sema.release(true));
        check(l.doneCount() == 1, "a waiter was handed a unit, and did not run at once");
    }

    private static void semaphoreOrder(Loop l) {
        Semaphore sem = new Semaphore(2);
        sem.acquire(1);
        Loop.runs(() -> {
            sem.acquire(2);
            l.done();
        });
        check(!sem.tryAcquire(1), "a small request passed a large one");
        sem.release(1);
    }

    private static void groupReused(Loop l) {
        WaitGroup wg = new WaitGroup();
        wg.add(1);
        Loop.runs(() -> {
            check(Plain.isRefused(wg::await), "the next round began before a waiter of the last went on, and it was not told");
            l.done();
        });
        wg.done();
        wg.add(1);
        Go.gosched();
        wg.done();
    }

    private static void groupLeft(Loop l) {
        WaitGroup wg = new WaitGroup();
        wg.add(1);
        Loop.runs(() -> {
            check(!wg.awaitWithin(Duration.ofNanos(10_000)), "a wait ended though nothing was done");
            l.done();
        });
        Loop.sleep(50_000);
        wg.done();
        wg.add(1);
        boolean[] finished = {false};
        Loop.runs(() -> {
            wg.await();
            check(finished[0], "a waiter went on before all were done");
            l.done();
        });
        finished[0] = true;
        wg.done();
    }

    private static void groupReports(Loop l) {
        WaitGroup wg = new WaitGroup();
        l.expectsUncaught(() -> check(!wg.awaitWithin(Duration.ZERO), "a group is done before what ended its goroutine was reported"));
        wg.go(() -> {
            throw new IllegalStateException("on purpose");
        });
        wg.await();
        check(l.uncaught() == 1, "a waiter went on before what ended a goroutine was reported");
        l.done();
    }
}
