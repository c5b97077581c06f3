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
import org.gmp4j.sched.GStack;
import org.gmp4j.stack.Goexit;
import org.jspecify.annotations.Nullable;

/**
 * Merges equal calls that are made at the same time. While a call runs, other callers with an equal key wait for its result. After the call
 * its result is not kept. Thread-safe. Goroutines, virtual threads and platform threads may use it. Interrupts and bubbles affect
 * waits as in a {@link WaitGroup}. A caller whose wait ends early affects neither the call nor the other callers. The channel of
 * {@link #runChan} allows a wait that a limit of time or a context may end. Source: Go's {@code golang.org/x/sync/singleflight}.
 *
 * @param <K> the keys, compared by {@code equals}
 * @param <V> the results
 */
public final class SingleFlight<K, V extends @Nullable Object> {
    private final Mutex mutex = new Mutex();
    /** The running calls. Guarded by the mutex. */
    private final Map<K, Call<V>> calls = new HashMap<>();
    /** The result that is sent when there is no memory for another. */
    private final Result<V> noMemory = new Result<>(null, new OutOfMemoryError("singleflight: no memory for the result"), true);

    /**
     * The outcome of a call.
     *
     * @param value the value that the call returned; null if it threw an exception
     * @param thrown the exception of the call, the same object for all callers; null if it returned
     * @param shared whether the call had several callers
     */
    public record Result<V extends @Nullable Object>(@Nullable V value, @Nullable Throwable thrown, boolean shared) {
        /**
         * Returns the value.
         *
         * @throws Exception the exception of the call
         */
        public V get() throws Exception {
            return SingleFlight.get(value, thrown);
        }
    }

    /** A call. The thread that makes the call writes the result before it calls {@code done.done()}. */
    private static final class Call<V> {
        private final WaitGroup done = new WaitGroup();
        /** The channels of {@link #runChan}. The mutex guards the list while the call runs. */
        private final List<Chan<Result<V>>> channels = new ArrayList<>(0);
        /** Guarded by the mutex while the call runs. */
        private boolean shared;
        private @Nullable V value;
        private @Nullable Throwable thrown;

        Call() {
            done.add(1);
        }

        /** Returns the value, or throws the exception, for a caller that has waited while another thread made the call. */
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

    /** A call that a goroutine makes. */
    private record Work<K, V>(SingleFlight<K, V> of, K key, Call<V> call, Callable<V> f) implements Runnable {
        @Override
        public void run() {
            of.make(key, call, f);
        }
    }

    /** Removes a call. Runs with the mutex held. */
    private record Removal<K, V>(SingleFlight<K, V> of, K key) implements Supplier<@Nullable Call<V>> {
        @Override
        public @Nullable Call<V> get() {
            return of.calls.remove(key);
        }
    }

    @SuppressWarnings("NullAway") // The call's value may be null only if V may be.
    private static <V extends @Nullable Object> V get(@Nullable V value, @Nullable Throwable thrown) throws Exception {
        if (thrown != null) {
            throw SingleFlight.<RuntimeException>sneaky(thrown);
        }
        return value;
    }

    /** The executor that starts the goroutines of {@link #runChan}; null for the caller's scheduler. */
    private final @Nullable Executor on;

    /** Makes an object whose {@link #runChan} only goroutines may call. */
    public SingleFlight() {
        on = null;
    }

    /** Makes an object whose {@link #runChan} any thread may call. {@code on}, usually a {@code Gmp}, starts its goroutines. */
    public SingleFlight(Executor on) {
        this.on = Objects.requireNonNull(on, "on");
    }

    /**
     * Calls {@code f} and returns its value. While another call with an equal key runs, it waits for that call and returns its value.
     *
     * @throws Exception the exception of the call, the same object for all callers
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
     * Makes a call as {@link #run} does, but does not wait. A goroutine, started as by {@link Go#go}, makes the call and sends its result
     * to the returned channel, which has a buffer for that result. If {@link Go#goexit} ended the call, the result has an
     * IllegalStateException. If there is no memory for the result, the channel gets a result with an OutOfMemoryError. Source: Go's {@code
     * DoChan}.
     *
     * @throws IllegalStateException when the caller is not a goroutine, there is no executor, and no call with an equal key runs
     */
    public Chan<Result<V>> runChan(K key, Callable<V> f) {
        Chan<Result<V>> channel = Chan.make(1);
        Call<V> mine = new Call<>();
        if (enter(key, mine, f, channel) == mine) {
            try {
                Runnable work = new Work<>(this, key, mine, f);
                if (on == null) {
                    Go.go(work);
                } else {
                    on.execute(work);
                }
            } catch (Throwable t) {
                end(key, mine, null, t); // The goroutine has not started, so no caller may wait for it.
                throw t;
            }
        }
        return channel;
    }

    /** Joins the running call with an equal key and returns it. If there is none, {@code mine} becomes that call. */
    private Call<V> enter(K key, Call<V> mine, Callable<V> f, @Nullable Chan<Result<V>> channel) {
        Objects.requireNonNull(f, "run of nil func value");
        GStack.checkAll(); // Once the call is in the map, this thread must end the call, and needs stack for that.
        boolean known = false;
        mutex.lock();
        try {
            Call<V> other = calls.putIfAbsent(key, mine);
            Call<V> c = other == null ? mine : other;
            if (channel != null) {
                c.channels.add(channel);
            }
            c.shared |= other != null;
            known = true;
            return c;
        } finally {
            try {
                if (!known) { // Memory ran out, perhaps after the call was put into the map, or a method of the key threw.
                    boolean _ = calls.remove(key, mine);
                }
            } finally {
                mutex.unlock(); // Runs also if the key's hashCode throws again.
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

    /** Ends a call, and wakes the waiting callers. It must not fail, so it can do without memory: see {@link #noMemory}. */
    private void end(K key, Call<V> c, @Nullable V value, @Nullable Throwable thrown) {
        mutex.lock();
        try {
            boolean _ = calls.remove(key, c); // From here on no caller joins the call.
        } finally {
            mutex.unlock();
            c.value = value;
            c.thrown = thrown;
            c.done.done();
            tellAll(c); // Runs also if the key's hashCode has thrown an exception.
        }
    }

    private void tellAll(Call<V> c) {
        for (int i = 0; i < c.channels.size(); i++) {
            tell(c.channels.get(i), c.result(noMemory));
        }
    }

    private static <V> void tell(Chan<Result<V>> channel, Result<V> result) {
        try {
            channel.send(result);
        } catch (IllegalStateException e) {
            return; // The channel is closed, or of another bubble. The other channels still get the result.
        } catch (StackOverflowError e) {
            channel.send(result); // The error is thrown once, when the limit of frames on the heap is reached. A second send succeeds.
        }
    }

    /**
     * Forgets the running call with this key, so that the next caller makes a new call. Waits for a {@link Mutex}, and nothing ends that
     * wait.
     */
    public void forget(K key) {
        Call<V> _ = mutex.with(new Removal<>(this, key));
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E sneaky(Throwable t) throws E {
        throw (E) t;
    }
}
