// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Waits until one of several sends and receives can go on, and does that one alone. If several can, it does one of them at
 * random, each as likely. From goroutines, virtual threads and platform threads. An interrupt ends the wait of a virtual thread of a
 * {@link Gmp} alone ({@link WaitInterruptedException}), and of any thread in {@link #runInterruptibly}. In a bubble of {@code Synctest} its
 * clock moves on while one waits on channels of the bubble alone, or with a {@link #timeout}.
 *
 * <p>A Select is built once and run as often as wanted, or cleared and built anew; neither allocates if it has been as
 * large before. One thread uses it at a time. Any call of a second thread while the first is in a method of the Select throws a
 * {@link ConcurrentModificationException}, for certain; the first goes on undisturbed. The action of a case may change the Select and
 * run it again, because it is called when everything else is done.
 *
 * {@snippet :
 * Select next = Select.of().recv(work, this::handle).recv(stop, v -> stopped = true);
 * while (!stopped) {
 *     next.run();
 * }
 * }
 *
 * <p>How it waits: {@code Selectgo}.
 */
@NullMarked
public final class Select {
    /** What {@link #run} gives for the default. */
    public static final int DEFAULT = -1;
    /** What {@link #run} gives for the {@link #timeout}. */
    public static final int TIMEOUT = -2;

    private static final int FEW = 4;
    private static final VarHandle BUSY = FieldHandle.of(MethodHandles.lookup(), Select.class, "busy", boolean.class);

    /** All cases in the order of adding; those beyond {@link #n} are kept for later ones. */
    private Scase[] cases = new Scase[FEW];
    private int n;
    private final Selectgo go = new Selectgo(FEW);
    private @Nullable Runnable orElse;
    /** Whether a case has a supplier. */
    private boolean supplied;
    /** What {@link #timeout} does, and after how many nanoseconds. */
    private @Nullable Runnable late;
    private long timeout = Selectgo.NO_TIMEOUT;
    /** Whether a thread is building, or in {@link #run} before the action. By CAS, so that of two one is always told. */
    @SuppressWarnings("unused") // Through BUSY.
    private volatile boolean busy;

    private Select() {
    }

    /** A select without cases. */
    public static Select of() {
        return new Select();
    }

    /** A select without cases that gives a value. */
    public static <R> SelectOne<R> one() {
        return new SelectOne<>();
    }

    /**
     * Adds a receive.
     *
     * @param c the channel; null never goes on
     * @param then called with the element, or with null when the channel was closed and drained
     */
    public <T> Select recv(@Nullable RecvChan<T> c, Consumer<? super @Nullable T> then) {
        add(Scase.Kind.RECV, (Chan<T>) c, null, 0, then);
        return this;
    }

    /**
     * Adds a send.
     *
     * @param c the channel; null never goes on
     * @param v the element
     * @param then called when it was sent
     * @throws NullPointerException when {@code v} is null
     */
    public <T> Select send(@Nullable SendChan<T> c, T v, Runnable then) {
        Chan.element(v);
        Chan<T> to = (Chan<T>) c;
        if (to != null) {
            to.checkSendable();
        }
        add(Scase.Kind.SEND, to, v, 0, then);
        return this;
    }

    /**
     * Adds a send of what {@code v} gives, which is asked at the beginning of each run, as Go evaluates the operands of its cases. What it
     * throws comes out of the run, before anything is sent or received.
     *
     * @param c the channel; null never goes on
     * @param v gives the element
     * @param then called when it was sent
     */
    public <T> Select sendEach(@Nullable SendChan<T> c, Supplier<? extends T> v, Runnable then) {
        Objects.requireNonNull(v, "v");
        Headroom.check(); // All or nothing.
        Chan<T> to = (Chan<T>) c;
        if (to != null) {
            to.checkSendable();
        }
        add(Scase.Kind.SEND, to, v, 0, then);
        Scase k = cases[n - 1];
        k.supplier = v;
        k.elem = null;
        supplied = true;
        return this;
    }

    /** The elements of {@link #sendEach}. */
    private void supply() {
        for (int i = 0; i < n; i++) {
            if (cases[i].supplier != null) {
                cases[i].elem = Chan.element(cases[i].supplier.get());
            }
        }
    }

    /**
     * Adds a receive of a long.
     *
     * @param c the channel; null never goes on
     * @param then called with the element, or with 0 when the channel was closed and drained
     */
    public Select recvLong(@Nullable LongChan c, LongConsumer then) {
        add(Scase.Kind.RECV_LONG, c, null, 0, then);
        return this;
    }

    /**
     * Adds a receive of a long that tells whether there was one.
     *
     * @param c the channel; null never goes on
     * @param then called with the element and true, or with 0 and false when the channel was closed and drained
     */
    public Select recvLongOk(@Nullable LongChan c, LongChan.Receiver then) {
        add(Scase.Kind.RECV_LONG_OK, c, null, 0, then);
        return this;
    }

    /**
     * Adds a send of a long.
     *
     * @param c the channel; null never goes on
     * @param v the element
     * @param then called when it was sent
     */
    public Select sendLong(@Nullable LongChan c, long v, Runnable then) {
        add(Scase.Kind.SEND, c, null, v, then);
        return this;
    }

    /**
     * Adds a receive that tells whether there was an element.
     *
     * @param c the channel; null never goes on
     * @param then called with the element and true, or with null and false when the channel was closed and drained
     */
    public <T> Select recvOk(@Nullable RecvChan<T> c, Receiver<? super T> then) {
        add(Scase.Kind.RECV_OK, (Chan<T>) c, null, 0, then);
        return this;
    }

    /** Takes what a select received. */
    @FunctionalInterface
    public interface Receiver<T> {
        /**
         * Takes it.
         *
         * @param value the element; null when the channel was closed and drained
         * @param ok whether there was an element
         */
        void accept(@Nullable T value, boolean ok);
    }

    /**
     * Sets what to do when no case can go on for {@code d} after {@link #run} began to wait; {@code d} of zero or less is as
     * {@link #orElse}, which takes precedence. Each run measures anew. As Go's {@code case <-time.After(d)}, but without a timer where
     * nothing has to wait.
     */
    public Select timeout(Duration d, Runnable then) {
        Objects.requireNonNull(then, "then");
        long nanos = RuntimeTimer.nanos(d);
        begin();
        timeout = Math.max(0, nanos);
        late = then;
        try {
            end();
        } catch (StackOverflowError e) {
            busy = false;
        }
        return this;
    }

    /** Sets what to do when no case can go on: the select does not wait then. */
    public Select orElse(Runnable then) {
        Objects.requireNonNull(then, "then");
        begin();
        orElse = then;
        try {
            end();
        } catch (StackOverflowError e) {
            busy = false;
        }
        return this;
    }

    /** Takes all cases, the default and the timeout out. */
    public Select clear() {
        Headroom.check(); // All or nothing.
        begin();
        for (int i = 0; i < n; i++) {
            cases[i].clear();
        }
        n = 0;
        go.clear();
        orElse = null;
        late = null;
        timeout = Selectgo.NO_TIMEOUT;
        supplied = false;
        end();
        return this;
    }

    private void begin() {
        if (!BUSY.compareAndSet(this, false, true)) {
            throw new ConcurrentModificationException("a Select is used by two threads at once");
        }
    }

    /** The next to begin sees everything. There may be no stack for this: then what was done is done all the same. */
    private void end() {
        BUSY.setRelease(this, false);
    }

    @SuppressWarnings("NullAway") // Where there is no channel the case is not among those that are looked at.
    private void add(Scase.Kind kind, @Nullable Hchan c, @Nullable Object v, long w, Object then) {
        Objects.requireNonNull(then, "then");
        begin();
        try {
            if (n == cases.length) {
                Scase[] more = Arrays.copyOf(cases, 2 * n);
                go.grow(2 * n); // There may not be the memory: more room there than here does no harm.
                cases = more;
            }
            if (cases[n] == null) {
                cases[n] = new Scase(n);
            }
            boolean durable = c != null && c.durable();
            if (c != null) {
                go.addLock(c); // A lock without its case does no harm.
            }
            Scase k = cases[n];
            k.kind = kind;
            k.c = c;
            k.elem = v;
            k.longElem = w;
            k.then = then;
            go.add(k, durable); // A call happens as a whole, or not at all when there is no room for it on the stack.
            n++;
        } finally {
            try {
                end();
            } catch (StackOverflowError e) {
                busy = false;
            }
        }
    }

    /**
     * Waits until a case can go on, or takes the default, and runs its action. Without cases it waits for ever.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @return the index of the case in the order of adding, the default not counted; -1 for the default, {@value #TIMEOUT} for the
     *     {@link #timeout}
     * @throws ChanClosedException "send on closed channel" when the case is a send on a channel that is or was closed
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits;
     *     nothing was sent or received
     */
    public int run() {
        return run(Limits.DEFAULT);
    }

    /**
     * As {@link #run}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; nothing was sent or received, and the
     *     interrupt status is cleared
     */
    public int runInterruptibly() throws InterruptedException {
        return run(Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #run}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; nothing was sent or received
     */
    public int runUnless(Cancelable ctx) {
        return run(Limits.until(ctx));
    }

    @SuppressWarnings("NullAway") // What is chosen has something to do.
    private int run(Limits limits) {
        limits.check();
        begin();
        Scase.Kind kind;
        Object then;
        int index;
        Object v = null;
        long w = 0;
        boolean ok = false;
        try {
            if (supplied) {
                supply();
            }
            boolean block = orElse == null;
            Scase k = n == 1 ? go.single(cases[0], limits, block, timeout) : go.choose(limits, block, timeout);
            if (k == null) {
                kind = Scase.Kind.SEND;
                then = orElse;
                index = DEFAULT;
            } else if (k == Selectgo.LATE) {
                kind = Scase.Kind.SEND;
                then = late;
                index = TIMEOUT;
            } else {
                kind = k.kind;
                then = k.then;
                index = k.index;
                if (kind != Scase.Kind.SEND) {
                    v = k.received();
                    w = k.longElem;
                    ok = k.ok;
                }
            }
        } finally {
            try {
                end(); // From here on the Select may change, and everything in it.
            } catch (StackOverflowError e) {
                busy = false; // Which needs no frame.
            }
        }
        switch (kind) {
            case SEND -> ((Runnable) then).run();
            case RECV -> accept(then, v);
            case RECV_OK -> acceptOk(then, v, ok);
            case RECV_LONG -> ((LongConsumer) then).accept(w);
            case RECV_LONG_OK -> ((LongChan.Receiver) then).accept(w, ok);
        }
        return index;
    }

    @SuppressWarnings("unchecked")
    private static void accept(Object then, @Nullable Object v) {
        ((Consumer<@Nullable Object>) then).accept(v);
    }

    @SuppressWarnings("unchecked")
    private static void acceptOk(Object then, @Nullable Object v, boolean ok) {
        ((Receiver<Object>) then).accept(v, ok);
    }
}
