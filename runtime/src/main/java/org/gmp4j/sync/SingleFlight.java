// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.proc.GStack;
import org.gmp4j.stack.Goexit;
import org.jspecify.annotations.Nullable;

/**
 * Calls that are made by many at a time and worked out once: while one is under way, others with an equal key wait for its
 * result. Nothing is kept afterwards. Thread-safe, from goroutines, virtual threads and platform threads; they wait as for a
 * {@link WaitGroup}, at interrupts and in a bubble too. One that leaves disturbs neither the call nor the others. For a wait that a time
 * or a context may end there is {@link #runChan}. Source: Go's {@code golang.org/x/sync/singleflight}.
 *
 * @param <K> the keys, compared by {@code equals}
 * @param <V> the results
 */
public final class SingleFlight<K, V extends @Nullable Object> {
    private final Mutex mutex = new Mutex();
    /** Under way; under the mutex. */
    private final Map<K, Call<V>> calls = new HashMap<>();
    /** What is sent where there is no memory for a result. */
    private final Result<V> noMemory = new Result<>(null, new OutOfMemoryError("singleflight: no memory for the result"), true);

    /**
     * What a call led to.
     *
     * @param value what it returned; null if it threw
     * @param thrown what it threw, the same object for all that waited for it; null if it returned
     * @param shared whether more than one asked for it
     */
    public record Result<V extends @Nullable Object>(@Nullable V value, @Nullable Throwable thrown, boolean shared) {
        /**
         * Returns the value.
         *
         * @throws Exception what the call threw
         */
        public V get() throws Exception {
            return SingleFlight.get(value, thrown);
        }
    }

    /** A call; its result is written by the thread that makes it, before done. */
    private static final class Call<V> {
        private final WaitGroup done = new WaitGroup();
        /** Those of {@link #runChan}; under the mutex while the call is under way. */
        private final List<Chan<Result<V>>> told = new ArrayList<>(0);
        /** Under the mutex while the call is under way. */
        private boolean shared;
        private @Nullable V value;
        private @Nullable Throwable thrown;

        Call() {
            done.add(1);
        }

        /** What it led to, for those that did not make it. */
        V ofOther() throws Exception {
            return SingleFlight.get(value, thrownAtOthers());
        }

        private @Nullable Throwable thrownAtOthers() {
            return thrown == Goexit.INSTANCE
                    ? new IllegalStateException("singleflight: the call was ended by goexit") : thrown;
        }

        Result<V> result(Result<V> noMemory) {
            try {
                return new Result<>(value, thrownAtOthers(), shared);
            } catch (OutOfMemoryError e) {
                return noMemory;
            }
        }
    }

    /** A call that a goroutine makes. No lambda: see HACKING, on errors that come from anywhere. */
    private record Work<K, V>(SingleFlight<K, V> of, K key, Call<V> call, Callable<V> f) implements Runnable {
        @Override
        public void run() {
            of.make(key, call, f);
        }
    }

    /** The mutex is held. */
    private record Removal<K, V>(SingleFlight<K, V> of, K key) implements Supplier<@Nullable Call<V>> {
        @Override
        public @Nullable Call<V> get() {
            return of.calls.remove(key);
        }
    }

    @SuppressWarnings("NullAway") // What the call gave, which may be null only where V may.
    private static <V extends @Nullable Object> V get(@Nullable V value, @Nullable Throwable thrown) throws Exception {
        if (thrown != null) {
            throw SingleFlight.<RuntimeException>sneaky(thrown);
        }
        return value;
    }

    /** What starts the goroutines of {@link #runChan}; null for the caller's scheduler. */
    private final @Nullable Executor on;

    /** Nothing under way. */
    public SingleFlight() {
        on = null;
    }

    /** The same, whose {@link #runChan} may be called from any thread; {@code on} starts its goroutines: a {@code Gmp}. */
    public SingleFlight(Executor on) {
        this.on = Objects.requireNonNull(on, "on");
    }

    /**
     * Returns what {@code f} returns, or, while another call with an equal key is under way, what that one returns.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws Exception what the call threw: the same object for all that waited for it
     */
    public V run(K key, Callable<V> f) throws Exception {
        Call<V> mine = new Call<>();
        Call<V> c = enter(key, mine, f, null);
        if (c != mine) {
            c.done.await();
            return c.ofOther();
        }
        make(key, c, f);
        return get(c.value, c.thrown);
    }

    /**
     * As {@link #run}, but does not wait: a goroutine makes the call, started as by {@link Go#go}, and the channel, which has
     * room for it, receives the result. A call that {@link Go#goexit} ended is given as an IllegalStateException, and one for whose
     * result there is no memory as an OutOfMemoryError. Source: Go's {@code DoChan}.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws IllegalStateException outside a goroutine, unless a call is under way or an executor was given
     */
    public Chan<Result<V>> runChan(K key, Callable<V> f) {
        Chan<Result<V>> told = Chan.make(1);
        Call<V> mine = new Call<>();
        if (enter(key, mine, f, told) == mine) {
            try {
                Runnable work = new Work<>(this, key, mine, f);
                if (on == null) {
                    Go.go(work);
                } else {
                    on.execute(work);
                }
            } catch (Throwable t) {
                end(key, mine, null, t); // It was not started, so nothing may wait for it.
                throw t;
            }
        }
        return told;
    }

    /** Joins the call under way; if there is none, {@code mine} becomes it. */
    private Call<V> enter(K key, Call<V> mine, Callable<V> f, @Nullable Chan<Result<V>> told) {
        Objects.requireNonNull(f, "run of nil func value");
        GStack.checkAll(); // Once the call is known it must be ended.
        boolean known = false;
        mutex.lock();
        try {
            Call<V> other = calls.putIfAbsent(key, mine);
            Call<V> c = other == null ? mine : other;
            if (told != null) {
                c.told.add(told);
            }
            c.shared |= other != null;
            known = true;
            return c;
        } finally {
            try {
                if (!known) { // There was no memory, maybe after it was put there.
                    boolean _ = calls.remove(key, mine);
                }
            } finally {
                mutex.unlock(); // The key's hashCode may throw.
            }
        }
    }

    private void make(K key, Call<V> c, Callable<V> f) {
        V value = null;
        Throwable thrown = null;
        try {
            value = f.call();
        } catch (Throwable t) {
            thrown = t;
        }
        end(key, c, value, thrown);
    }

    /** Takes no memory: others wait for it. */
    private void end(K key, Call<V> c, @Nullable V value, @Nullable Throwable thrown) {
        mutex.lock();
        try {
            boolean _ = calls.remove(key, c); // From here on no other joins.
        } finally {
            mutex.unlock();
            c.value = value;
            c.thrown = thrown;
            c.done.done();
            tellAll(c); // Also when the key's hashCode has thrown.
        }
    }

    private void tellAll(Call<V> c) {
        for (int i = 0; i < c.told.size(); i++) {
            tell(c.told.get(i), c.result(noMemory));
        }
    }

    private static <V> void tell(Chan<Result<V>> told, Result<V> result) {
        try {
            told.send(result);
        } catch (IllegalStateException e) {
            return; // Closed, or of another bubble: the others are to be told all the same.
        } catch (StackOverflowError e) {
            told.send(result); // There were too many frames on the heap. That is said once, and the others must not wait for it.
        }
    }

    /**
     * Has the next call with this key made anew, even while one is under way.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public void forget(K key) {
        Call<V> _ = mutex.with(new Removal<>(this, key));
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E sneaky(Throwable t) throws E {
        throw (E) t;
    }
}
