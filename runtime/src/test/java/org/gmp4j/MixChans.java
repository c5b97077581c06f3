// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

import org.gmp4j.chan.Hchan;
import org.gmp4j.chan.Waiters;
import org.gmp4j.sync.WaitGroup;

/**
 * Random operations on some channels, and the model of what goes through them: each element that a sender counts as sent
 * arrives once, and each receiver sees the elements of one sender on one channel in the order in which they were sent.
 * At the end all queues are empty. Now and then a channel is made that is closed while it is in use.
 */
final class MixChans {
    private static final int CHANNELS = 6;
    private static final int OBJECTS = 4;
    private static final int SENDER_SHIFT = 32;
    private static final int LONGEST_WAIT = 50_000;

    private final List<Chan<Long>> objects = new ArrayList<>();
    private final List<LongChan> longs = new ArrayList<>();
    private final int senders;
    private final int each;
    private final AtomicIntegerArray arrived;

    /** For so many senders of so many elements each. */
    MixChans(int senders, int each) {
        this.senders = senders;
        this.each = each;
        arrived = new AtomicIntegerArray(senders * each);
        for (int i = 0; i < OBJECTS; i++) {
            objects.add(Chan.make(i % 3));
        }
        for (int i = OBJECTS; i < CHANNELS; i++) {
            longs.add(LongChan.make(2 * (i % 2)));
        }
    }

    /** When all senders have sent. */
    void close() {
        objects.forEach(Chan::close);
        longs.forEach(LongChan::close);
    }

    /** When all receivers have ended. */
    void check() {
        for (int i = 0; i < arrived.length(); i++) {
            assertEquals(1, arrived.get(i), "how often element " + i % each + " of sender " + i / each + " arrived");
        }
        List<Hchan> all = new ArrayList<>(objects);
        all.addAll(longs);
        for (Hchan c : all) {
            assertTrue(Waiters.none(c));
            assertEquals(0, c.len());
        }
    }

    /** Lets others run, on whatever kind of thread. */
    static void pause() {
        if (Go.inGoroutine()) {
            Go.gosched();
        } else {
            Thread.yield();
        }
    }

    /** A user of the channels; one thread. */
    final class User {
        private final SplittableRandom random;
        private final int id;
        private final Consumer<Select> more;
        private final Consumer<Runnable> go;
        private final Select select = Select.of();
        private final long[][] last = new long[CHANNELS][senders];
        private final boolean[] closed = new boolean[CHANNELS];
        private int next;
        private int open = CHANNELS;

        /**
         * A user.
         *
         * @param id of a sender, from 0; any other number receives only
         * @param more adds cases of its own to each select
         * @param go starts a goroutine
         */
        User(int id, SplittableRandom random, Consumer<Select> more, Consumer<Runnable> go) {
            this.id = id;
            this.random = random;
            this.more = more;
            this.go = go;
        }

        private long element() {
            return (long) id << SENDER_SHIFT | next + 1;
        }

        private void arrived(int channel, long v) {
            int sender = (int) (v >>> SENDER_SHIFT);
            int n = (int) v;
            assertTrue(n > last[channel][sender], "out of order");
            last[channel][sender] = n;
            int _ = arrived.incrementAndGet(sender * each + n - 1);
        }

        private void got(int channel, Long v) {
            if (v != null) {
                arrived(channel, v);
            } else {
                closed(channel);
            }
        }

        private void got(int channel, long v, boolean ok) {
            if (ok) {
                arrived(channel, v);
            } else {
                closed(channel);
            }
        }

        private void closed(int channel) {
            if (!closed[channel]) {
                closed[channel] = true;
                open--;
            }
        }

        private void sent() {
            next++;
        }

        private void sent(boolean ok) {
            if (ok) {
                sent();
            } else {
                pause();
            }
        }

        private Duration wait(int channel) {
            return Duration.ofNanos(random.nextInt(-1, LONGEST_WAIT) * (channel & 1)); // Half of them: no time at all.
        }

        private void addSend(int channel) {
            if (channel < OBJECTS) {
                select.send(objects.get(channel), element(), this::sent);
            } else {
                select.sendLong(longs.get(channel - OBJECTS), element(), this::sent);
            }
        }

        private void addRecv(int channel) {
            if (closed[channel]) {
                select.recv(null, v -> got(channel, null));
            } else if (channel < OBJECTS) {
                select.recv(objects.get(channel), v -> got(channel, v));
            } else {
                select.recvLongOk(longs.get(channel - OBJECTS), (v, ok) -> got(channel, v, ok));
            }
        }

        private void runSelect() {
            more.accept(select);
            if (random.nextInt(4) == 0) {
                select.orElse(MixChans::pause);
            }
            int _ = select.run();
        }

        /** Whether all is sent. */
        boolean done() {
            return next == each;
        }

        /** Does something with some channels; may wait until another receives. */
        void sendStep() {
            int channel = random.nextInt(CHANNELS);
            switch (random.nextInt(8)) {
                case 0 -> {
                    if (channel < OBJECTS) {
                        objects.get(channel).send(element());
                    } else {
                        longs.get(channel - OBJECTS).send(element());
                    }
                    sent();
                }
                case 1 -> sent(channel < OBJECTS ? objects.get(channel).trySend(element())
                        : longs.get(channel - OBJECTS).trySend(element()));
                case 2 -> sent(channel < OBJECTS ? objects.get(channel).sendWithin(element(), wait(channel))
                        : longs.get(channel - OBJECTS).sendWithin(element(), wait(channel)));
                case 3 -> recvNow(channel);
                case 4 -> closing();
                default -> {
                    select.clear();
                    addSend(channel); // The same channel again, and to receive from, is all right.
                    for (int i = random.nextInt(6); i > 0; i--) {
                        if (random.nextBoolean()) {
                            addSend(random.nextInt(CHANNELS));
                        } else {
                            addRecv(random.nextInt(CHANNELS));
                        }
                    }
                    runSelect();
                }
            }
        }

        private void recvNow(int channel) {
            if (channel < OBJECTS) {
                Chan<Long> c = objects.get(channel);
                Chan.Recv<Long> r = random.nextBoolean() ? c.tryRecvOk() : c.recvOkWithin(wait(channel));
                if (r != null) {
                    got(channel, r.value());
                }
            } else {
                LongChan c = longs.get(channel - OBJECTS);
                LongChan.Recv r = random.nextBoolean() ? c.tryRecvOk() : c.recvOkWithin(wait(channel));
                if (r != null) {
                    got(channel, r.value(), r.ok());
                }
            }
        }

        /**
         * A channel of its own is closed while others send to it and receive from it: what counts as sent arrives, and nothing
         * else does.
         */
        private void closing() {
            Chan<Long> c = Chan.make(random.nextInt(3));
            LongAdder sent = new LongAdder();
            LongAdder received = new LongAdder();
            WaitGroup others = new WaitGroup();
            int senders = random.nextInt(1, 3);
            others.add(senders + 1);
            for (int i = 0; i < senders; i++) {
                SplittableRandom own = random.split();
                go.accept(() -> {
                    try {
                        sendUntilClosed(c, own, sent);
                    } finally {
                        others.done();
                    }
                });
            }
            go.accept(() -> {
                c.forEach(received::add);
                others.done();
            });
            for (int i = random.nextInt(5); i > 0; i--) {
                received.add(c.recv());
            }
            c.close();
            c.forEach(received::add);
            others.await();
            assertEquals(sent.sum(), received.sum());
            assertTrue(Waiters.none(c));
        }

        private static void sendUntilClosed(Chan<Long> c, SplittableRandom random, LongAdder sent) {
            try {
                for (long v = 1;; v *= 3) {
                    long element = v;
                    switch (random.nextInt(4)) {
                        case 0 -> {
                            c.send(element);
                            sent.add(element);
                        }
                        case 1 -> {
                            Duration d = Duration.ofNanos(random.nextInt(LONGEST_WAIT));
                            sent.add(c.sendWithin(element, d) ? element : 0);
                        }
                        default -> {
                            Select s = Select.of().send(c, element, () -> sent.add(element)).recv(Chan.make(), none -> { });
                            if (random.nextBoolean()) {
                                s.orElse(MixChans::pause);
                            }
                            int _ = s.run();
                        }
                    }
                }
            } catch (IllegalStateException e) {
                assertEquals("send on closed channel", e.getMessage());
            }
        }

        /** Whether anything may still come. */
        boolean open() {
            return open > 0;
        }

        /** Receives: mostly from all channels, or senders could wait on one while all receivers wait on the others. */
        void receiveStep() {
            if (random.nextInt(4) == 0) {
                recvNow(random.nextInt(CHANNELS));
            } else {
                select.clear();
                for (int c = 0; c < CHANNELS; c++) {
                    addRecv(c);
                }
                runSelect();
            }
        }
    }
}
