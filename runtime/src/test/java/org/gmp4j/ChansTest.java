// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.gmp4j.context.Context;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.junit.jupiter.api.Test;

/** Channels beside the JDK's types. */
class ChansTest {
    private static Chan<Integer> of(int... values) {
        Chan<Integer> c = Chan.make(values.length);
        for (int v : values) {
            c.send(v);
        }
        c.close();
        return c;
    }

    private static List<Integer> rest(Iterable<Integer> c) {
        List<Integer> all = new ArrayList<>();
        c.forEach(all::add);
        return all;
    }

    @Test
    void merge() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Context ctx = Context.background().withCancel();
            assertEquals(List.of(1, 2, 3, 4, 5, 6), rest(Chans.merge(gmp.gmp, ctx, List.of(of(1, 3, 5), of(2, 4), of(6)))).stream()
                    .sorted().toList());
            assertEquals(List.of(), rest(Chans.merge(gmp.gmp, ctx, List.of())));
            RecvChan<Integer> never = Chans.merge(gmp.gmp, ctx, List.of(Chan.<Integer>make(), of(1)));
            assertEquals(1, never.recv());
            ctx.cancel();
            assertFalse(never.recvOk().ok(), "closed when its context is cancelled");
        }
    }

    @Test
    void broadcast() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            List<RecvChan<Integer>> all = Chans.broadcast(gmp.gmp, Context.background(), of(1, 2, 3), 3, 3);
            for (RecvChan<Integer> c : all) {
                assertEquals(List.of(1, 2, 3), rest(c));
            }
            Context ctx = Context.background().withCancel();
            List<RecvChan<Integer>> stuck = Chans.broadcast(gmp.gmp, ctx, of(1, 2, 3), 2, 0);
            assertEquals(1, stuck.get(0).recv());
            ctx.cancel();
            assertTrue(Chans.stream(stuck.get(1)).count() <= 1, "not closed when its context is cancelled");
            assertThrows(IllegalArgumentException.class, () -> Chans.broadcast(gmp.gmp, ctx, of(), 0, 0));
        }
    }

    @Test
    void streams() {
        assertEquals(9, Chans.stream(of(2, 3, 4)).mapToInt(x -> x).sum());
        assertEquals(List.of(2), Chans.stream(of(2, 3, 4)).limit(1).toList());
        LongChan c = LongChan.make(3);
        c.send(1);
        c.send(0);
        c.send(2);
        c.close();
        AtomicLong sum = new AtomicLong();
        long[] n = new long[1];
        c.forEachLong(v -> {
            sum.addAndGet(v);
            n[0]++;
        });
        assertEquals(3, sum.get());
        assertEquals(3, n[0]);
    }

    @Test
    void queues() throws Exception {
        Chan<Integer> c = Chan.make(2);
        BlockingQueue<Integer> q = Chans.queue(c);
        q.put(1);
        assertTrue(q.offer(2));
        assertFalse(q.offer(3));
        assertFalse(q.offer(3, 1, TimeUnit.MILLISECONDS));
        assertEquals(0, q.remainingCapacity());
        assertEquals(1, q.take());
        List<Integer> to = new ArrayList<>();
        assertEquals(1, q.drainTo(to));
        assertEquals(List.of(2), to);
        assertNull(q.poll());
        assertNull(q.poll(1, TimeUnit.MILLISECONDS));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, q::take);
        Thread t = Thread.currentThread();
        Thread other = Thread.ofPlatform().start(t::interrupt);
        assertThrows(InterruptedException.class, () -> q.poll(1, TimeUnit.HOURS));
        other.join();
        c.close();
        assertThrows(IllegalStateException.class, q::take);
        assertThrows(ChanClosedException.class, () -> q.put(1));
        assertNull(q.peek());
    }

    /** From a publisher of the JDK's into a channel, and from a channel to it. */
    @Test
    void flows() {
        int n = 2_000;
        try (TestGmp gmp = TestGmp.procs(2)) {
            SubmissionPublisher<Integer> from = new SubmissionPublisher<>(gmp.gmp, 16);
            ChanSubscription<Integer> in = Chans.subscribe(from, 8);
            gmp.go(() -> {
                IntStream.range(0, n).forEach(from::submit);
                from.close();
            });
            assertEquals(IntStream.range(0, n).boxed().toList(), rest(in));
            assertNull(in.error());

            Chan<Integer> c = Chan.make(4);
            ChanSubscription<Integer> back = Chans.subscribe(Chans.publisher(gmp.gmp, c), 5);
            gmp.go(() -> {
                IntStream.range(0, n).forEach(c::send);
                c.close();
            });
            assertEquals(IntStream.range(0, n).boxed().toList(), rest(back));
        }
    }

    /** Against the rules of flows; what came is there all the same. */
    @Test
    void aPublisherThatSendsBeforeItSubscribes() {
        ChanSubscription<Integer> s = Chans.subscribe(to -> to.onNext(1), 1);
        assertEquals(1, s.recv());
    }

    /** A subscriber that notes its signals and asks for {@code first} elements. */
    private static final class Noting implements Flow.Subscriber<Integer> {
        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        private final long first;
        volatile Flow.Subscription subscription;

        Noting(long first) {
            this.first = first;
        }

        @Override
        public void onSubscribe(Flow.Subscription s) {
            subscription = s;
            seen.add("subscribed");
            if (first > 0) {
                s.request(first);
            }
        }

        @Override
        public void onNext(Integer v) {
            seen.add(v.toString());
        }

        @Override
        public void onError(Throwable t) {
            seen.add(t.getClass().getSimpleName());
        }

        @Override
        public void onComplete() {
            seen.add("complete");
        }

        void expect(String... signals) throws InterruptedException {
            for (String s : signals) {
                assertEquals(s, seen.take());
            }
        }
    }

    /** It needs no demand: of a channel that is empty already, that is closed later, and whose last element another takes. */
    @Test
    void completionWithoutDemand() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Noting empty = new Noting(0);
            Chans.publisher(gmp.gmp, of()).subscribe(empty);
            empty.expect("subscribed", "complete");

            Chan<Integer> c = Chan.make(2);
            Noting two = new Noting(2);
            Chans.publisher(gmp.gmp, c).subscribe(two);
            c.send(1);
            c.send(2);
            two.expect("subscribed", "1", "2");
            TestGmp.awaitAsleep(gmp.scheduler(), 0); // The publication's goroutine waits until the channel is drained.
            c.close();
            two.expect("complete");

            Chan<Integer> rest = of(1, 2);
            Noting idle = new Noting(0);
            Flow.Publisher<Integer> p = Chans.publisher(gmp.gmp, rest);
            p.subscribe(idle);
            idle.expect("subscribed");
            TestGmp.awaitAsleep(gmp.scheduler(), 0);
            assertEquals(1, rest.recv());
            assertEquals(2, rest.recv());
            idle.expect("complete");
            p.subscribe(idle); // Again, as it is subscribed no more.
            idle.expect("subscribed", "complete");
        }
    }

    /** While an element is awaited, and while none was asked for. */
    @Test
    void misuseIsToldAtOnce() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (long asked : new long[] {0, 1}) {
                Flow.Publisher<Integer> p = Chans.publisher(gmp.gmp, Chan.make());
                Noting s = new Noting(asked);
                p.subscribe(s);
                s.expect("subscribed");
                s.subscription.request(0);
                s.expect("IllegalArgumentException");
                p.subscribe(s);
                p.subscribe(s);
                s.expect("subscribed", "IllegalStateException");
            }
        }
    }

    /** A subscriber that fails is told of it; one that fails as it is told of the end is told nothing more. */
    @Test
    void subscribersThatThrow() throws Exception {
        BlockingQueue<Object> uncaught = new LinkedBlockingQueue<>();
        try (Gmp gmp = Gmp.builder().procs(2).uncaught((id, t) -> uncaught.add(t)).build()) {
            BlockingQueue<Object> told = new LinkedBlockingQueue<>();
            RuntimeException thrown = new ArithmeticException();
            Flow.Subscriber<Integer> s = new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription s) {
                    s.request(1);
                }

                @Override
                public void onNext(Integer v) {
                    throw thrown;
                }

                @Override
                public void onError(Throwable t) {
                    told.add(t);
                }

                @Override
                public void onComplete() {
                    throw thrown;
                }
            };
            Chans.publisher(gmp, of()).subscribe(s);
            assertEquals(thrown, uncaught.take());
            Chans.publisher(gmp, of(1)).subscribe(s);
            assertEquals(thrown, told.take());
            assertTrue(told.isEmpty() && uncaught.isEmpty());
        }
    }

    /** Nothing of ours refers to it any more. */
    @Test
    void aSubscriberThatCancelsIsDropped() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            Flow.Publisher<Integer> p = Chans.publisher(gmp.gmp, c);
            for (long asked : new long[] {0, 1}) {
                WeakReference<Noting> gone = cancelled(p, asked);
                while (gone.get() != null) {
                    System.gc();
                }
            }
            Reference.reachabilityFence(p);
        }
    }

    private static WeakReference<Noting> cancelled(Flow.Publisher<Integer> p, long asked) throws InterruptedException {
        Noting s = new Noting(asked);
        p.subscribe(s);
        s.expect("subscribed");
        s.subscription.cancel();
        s.subscription.request(1);
        s.subscription.request(0);
        return new WeakReference<>(s);
    }

    /** Against the rules of flows, to which the receiver owes no exception. */
    @Test
    void aPublisherThatSendsMoreThanAskedFor() {
        boolean[] cancelled = new boolean[1];
        ChanSubscription<Integer> s = Chans.subscribe(to -> {
            to.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long n) {
                    assertEquals(1, n);
                }

                @Override
                public void cancel() {
                    cancelled[0] = true;
                }
            });
            to.onNext(1);
            to.onNext(2);
        }, 1);
        assertTrue(cancelled[0]);
        assertEquals(1, s.recv());
        assertTrue(assertThrows(IllegalStateException.class, s::recv).getCause().getMessage().contains("more than was asked for"));
    }

    @Test
    void flowsThatEndEarly() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            ChanSubscription<Integer> s = Chans.subscribe(Chans.publisher(gmp.gmp, c), 1);
            c.send(1);
            assertEquals(1, s.recv());
            s.close(); // Or the goroutine that serves it is left, which the end of the scheduler tells.
            assertNull(s.recv());
            SubmissionPublisher<Integer> fails = new SubmissionPublisher<>(gmp.gmp, 4);
            ChanSubscription<Integer> f = Chans.subscribe(fails, 4);
            fails.submit(7);
            assertEquals(7, f.recv());
            ArithmeticException why = new ArithmeticException("why");
            fails.closeExceptionally(why);
            assertEquals(why, assertThrows(IllegalStateException.class, f::recv).getCause());
            Chan<Object> told = Chan.make(1);
            Chans.publisher(gmp.gmp, Chan.<Integer>make()).subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription x) {
                    x.request(0);
                }

                @Override
                public void onNext(Integer v) {
                    told.send(v);
                }

                @Override
                public void onError(Throwable t) {
                    told.send(t.getClass());
                }

                @Override
                public void onComplete() {
                    told.send("complete");
                }
            });
            assertEquals(IllegalArgumentException.class, told.recv());
        }
    }

    @Test
    void scopes() {
        try (Ticker t = Time.newTicker(Duration.ofNanos(1_000)); var timer = Time.newTimer(Duration.ofHours(1))) {
            RecvChan<java.time.Instant> ticks = t.c();
            assertTrue(ticks.recv() != null);
            assertFalse(timer.c().tryRecvOk() != null);
        }
        RWMutex m = new RWMutex();
        assertEquals(3, m.withRead(() -> 3));
        assertEquals(4, m.withWrite(() -> 4));
        m.withWrite(() -> assertFalse(m.tryRLock()));
        m.withRead(() -> assertTrue(m.tryRLock()));
        m.rUnlock();
        assertTrue(m.tryLock());
    }

    /** Selects that are expressions, and elements that are asked for anew in each run. */
    @Test
    void selectsWithValues() throws Exception {
        Chan<Integer> numbers = Chan.make(2);
        Chan<String> words = Chan.make();
        SelectOne<String> one = Select.<String>one().recv(numbers, n -> "number " + n).recv(words, w -> "word " + w)
                .timeout(Duration.ofNanos(1_000), () -> "nothing");
        numbers.send(3);
        assertEquals("number 3", one.run());
        assertEquals("nothing", one.runInterruptibly());
        assertEquals("default", one.orElse(() -> "default").runUnless(Context.background()));
        int[] next = new int[1];
        Select each = Select.of().sendEach(numbers, () -> ++next[0], () -> { }).recv(words, w -> { });
        assertEquals(0, each.run());
        assertEquals(0, each.run());
        assertEquals(1, numbers.recv());
        assertEquals(2, numbers.recv());
        each.clear().sendEach(numbers, () -> null, () -> { });
        assertThrows(NullPointerException.class, each::run);
        assertEquals(0, each.clear().send(numbers, 9, () -> { }).run());
        assertEquals(9, numbers.recv());
    }

    @Test
    void deferredWorkOfABlock() {
        StringBuilder order = new StringBuilder();
        RuntimeException first = new ArithmeticException("first");
        RuntimeException second = new ArithmeticException("second");
        RuntimeException seen = assertThrows(ArithmeticException.class, () -> {
            try (Scope scope = new Scope()) {
                for (int i = 0; i < 3; i++) {
                    int n = i;
                    scope.defer(() -> order.append(n));
                }
                scope.defer(() -> {
                    throw second;
                });
                scope.defer(() -> {
                    throw first;
                });
                order.append('b');
            }
        });
        assertEquals("b210", order.toString());
        assertEquals(first, seen);
        assertEquals(List.of(second), List.of(seen.getSuppressed()));
    }

    @Test
    void executors() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); ExecutorService e = gmp.gmp.newThreadPerTaskExecutor()) {
            assertEquals(3, e.submit(() -> 3).get());
        }
    }
}
