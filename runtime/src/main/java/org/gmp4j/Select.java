// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

import org.gmp4j.chan.Hchan;
import org.gmp4j.chan.Scase;
import org.gmp4j.chan.Selectgo;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.HeapInt;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * Waits until one of several sends and receives can proceed, and does only that one. If several can, it chooses one of them at random, each
 * with the same probability. Goroutines, virtual threads and platform threads may call it. An interrupt ends only the wait of a virtual
 * thread of a {@link Gmp} ({@link WaitInterruptedException}), and the wait of any thread in {@link #runInterruptibly}. In a bubble of
 * {@code Synctest} the clock moves on during the wait if all channels belong to the bubble, or if the Select has a {@link #timeout}.
 *
 * <p>A Select can be built once and run repeatedly, or cleared and built anew. Adding a case allocates only if the Select has more cases
 * than ever before. Only one thread may use it at a time. While a thread is in a method of the Select, but not in an action, each call by
 * another thread throws a {@link ConcurrentModificationException}. The action of a case may change the Select and run it again, because a
 * run calls the action last.
 *
 * {@snippet :
 * Select next = Select.of().recv(work, this::handle).recv(stop, v -> stopped = true);
 * while (!stopped) {
 *     next.run();
 * }
 * }
 *
 * <p>{@code Selectgo} implements the wait.
 */
public final class Select {
    /** The result of {@link #run} for the default ({@link #orElse}). */
    public static final int DEFAULT = -1;
    /** The result of {@link #run} for the {@link #timeout}. */
    public static final int TIMEOUT = -2;

    private static final int FEW = 4;
    private static final HeapInt<Select> BUSY = HeapInt.of(MethodHandles.lookup(), Select.class, "busy");

    /** All cases, in the order in which they were added. The objects from index {@link #n} on are kept for later cases. */
    private Scase[] cases = new Scase[FEW];
    private int n;
    private final Selectgo go = new Selectgo(FEW);
    private @Nullable Runnable orElse;
    /** Whether a case has a supplier. */
    private boolean supplied;
    /** The action of {@link #timeout}, and the nanoseconds after which it runs. */
    private @Nullable Runnable late;
    private long timeout = Selectgo.NO_TIMEOUT;
    /**
     * 1 while a thread is changing the Select, or is in {@link #run} and has not begun the action of a case; else 0. Set by CAS, so that
     * the second thread fails.
     */
    @SuppressWarnings("unused") // Accessed through BUSY.
    private volatile int busy;

    private Select() {
    }

    /** Makes a select without cases. */
    public static Select of() {
        return new Select();
    }

    /** Makes a select that returns a value. It has no cases yet. */
    public static <R> SelectOne<R> one() {
        return new SelectOne<>();
    }

    /**
     * Adds a receive.
     *
     * @param c the channel; null never proceeds
     * @param then called with the element, or with null when the channel was closed and drained
     */
    public <T> Select recv(@Nullable RecvChan<T> c, Consumer<? super @Nullable T> then) {
        add(Scase.Kind.RECV, (Chan<T>) c, null, 0, then);
        return this;
    }

    /**
     * Adds a send.
     *
     * @param c the channel; null never proceeds
     * @param v the element
     * @param then called when the element was sent
     * @throws NullPointerException when {@code v} is null
     */
    public <T> Select send(@Nullable SendChan<T> c, T v, Runnable then) {
        Chan.element(v);
        Chan<T> to = (Chan<T>) c;
        Selectgo.checkSendable(to);
        add(Scase.Kind.SEND, to, v, 0, then);
        return this;
    }

    /**
     * Adds a send. Each run begins by getting the element from {@code v}, as Go evaluates the operands of its cases. If {@code v} throws an
     * exception, the run throws it, and sends and receives nothing.
     *
     * @param c the channel; null never proceeds
     * @param v supplies the element
     * @param then called when the element was sent
     */
    public <T> Select sendEach(@Nullable SendChan<T> c, Supplier<? extends T> v, Runnable then) {
        Objects.requireNonNull(v, "v");
        Headroom.check(); // An overflow of the stack must not leave the change half done.
        Chan<T> to = (Chan<T>) c;
        Selectgo.checkSendable(to);
        add(Scase.Kind.SEND, to, v, 0, then);
        Scase k = cases[n - 1];
        k.supplier = v;
        k.elem = null;
        supplied = true;
        return this;
    }

    /** Calls the suppliers of the cases of {@link #sendEach}. */
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
     * @param c the channel; null never proceeds
     * @param then called with the element, or with 0 when the channel was closed and drained
     */
    public Select recvLong(@Nullable LongChan c, LongConsumer then) {
        add(Scase.Kind.RECV_LONG, c, null, 0, then);
        return this;
    }

    /**
     * Adds a receive of a long. Its action also gets whether there was an element.
     *
     * @param c the channel; null never proceeds
     * @param then called with the element and true, or with 0 and false when the channel was closed and drained
     */
    public Select recvLongOk(@Nullable LongChan c, LongChan.Receiver then) {
        add(Scase.Kind.RECV_LONG_OK, c, null, 0, then);
        return this;
    }

    /**
     * Adds a send of a long.
     *
     * @param c the channel; null never proceeds
     * @param v the element
     * @param then called when the element was sent
     */
    public Select sendLong(@Nullable LongChan c, long v, Runnable then) {
        add(Scase.Kind.SEND, c, null, v, then);
        return this;
    }

    /**
     * Adds a receive. Its action also gets whether there was an element.
     *
     * @param c the channel; null never proceeds
     * @param then called with the element and true, or with null and false when the channel was closed and drained
     */
    public <T> Select recvOk(@Nullable RecvChan<T> c, Receiver<? super T> then) {
        add(Scase.Kind.RECV_OK, (Chan<T>) c, null, 0, then);
        return this;
    }

    /** The action of {@link #recvOk}. It gets the element, and whether there was one. */
    @FunctionalInterface
    public interface Receiver<T> {
        /**
         * Takes the result of the receive.
         *
         * @param value the element; null when the channel was closed and drained
         * @param ok whether there was an element
         */
        void accept(@Nullable T value, boolean ok);
    }

    /**
     * Sets the action to run if no case can proceed within {@code d} after {@link #run} began to wait. If {@code d} is zero or less, the
     * run does not wait. An action of {@link #orElse} takes precedence. Each run measures the time anew. This is Go's {@code case
     * <-time.After(d)}, except that a timer is used only if the run has to wait.
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
            busy = 0;
        }
        return this;
    }

    /** Sets the action to run if no case can proceed. With it the select does not wait. */
    public Select orElse(Runnable then) {
        Objects.requireNonNull(then, "then");
        begin();
        orElse = then;
        try {
            end();
        } catch (StackOverflowError e) {
            busy = 0;
        }
        return this;
    }

    /** Removes all cases, the default and the timeout. */
    public Select clear() {
        Headroom.check(); // An overflow of the stack must not leave the change half done.
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
        if (!BUSY.compareAndSet(this, 0, 1)) {
            throw new ConcurrentModificationException("a Select is used by two threads at once");
        }
    }

    /**
     * Ends the use by this thread. The release makes its writes visible to the thread whose CAS in {@link #begin} succeeds next. If no
     * stack is left for this call, the caller writes the field itself.
     */
    private void end() {
        BUSY.setRelease(this, 0);
    }

    @SuppressWarnings("NullAway") // A case without a channel is not among the cases that Selectgo tries.
    private void add(Scase.Kind kind, @Nullable Hchan c, @Nullable Object v, long w, Object then) {
        Objects.requireNonNull(then, "then");
        begin();
        try {
            if (n == cases.length) {
                Scase[] more = Arrays.copyOf(cases, 2 * n);
                go.grow(2 * n); // It may throw for lack of memory. If only one of the two arrays has grown, that does no harm.
                cases = more;
            }
            if (cases[n] == null) {
                cases[n] = new Scase(n);
            }
            boolean durable = c != null && go.addLock(c); // If the next step fails, a lock without its case does no harm.
            Scase k = cases[n];
            k.kind = kind;
            k.c = c;
            k.elem = v;
            k.longElem = w;
            k.then = then;
            go.add(k, durable); // If the stack has no room for the call, the call has no effect, and n does not grow.
            n++;
        } finally {
            try {
                end();
            } catch (StackOverflowError e) {
                busy = 0;
            }
        }
    }

    /**
     * Waits until a case can proceed, or takes the default, and runs the action. Without cases, default and timeout it waits for ever.
     *
     * @return the index of the case in the order in which cases were added, the default not counted; {@value #DEFAULT} for the default,
     *     {@value #TIMEOUT} for the {@link #timeout}
     * @throws ChanClosedException "send on closed channel" when the chosen case is a send on a closed channel
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits;
     *     nothing was sent or received
     */
    public int run() {
        return run(Limits.DEFAULT);
    }

    /**
     * Like {@link #run}, this waits until a case can proceed, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; nothing was sent or received, and
     *     the interrupt status is cleared
     */
    public int runInterruptibly() throws InterruptedException {
        return run(Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #run}, this waits until a case can proceed, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; nothing was sent or received
     */
    public int runUnless(Cancelable ctx) {
        return run(Limits.until(ctx));
    }

    @SuppressWarnings("NullAway") // The case that was chosen has an action.
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
                end(); // From here on the action and other threads may change the Select.
            } catch (StackOverflowError e) {
                busy = 0; // A call might overflow the stack again.
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
