package org.gmp4j.sync;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

import org.gmp4j.stack.Goexit;

/**
 * Calls that are made by many at a time and worked out once: while one is under way, others with an equal key wait for its
 * result. Nothing is kept afterwards. Thread-safe, from goroutines and plain threads. Source: Go's
 * {@code golang.org/x/sync/singleflight}.
 *
 * @param <K> the keys, compared by {@code equals}
 * @param <V> the results
 */
public final class SingleFlight<K, V> {
    private final Mutex mutex = new Mutex();
    /** Under way; under the mutex. */
    private final Map<K, Call<V>> calls = new HashMap<>();

    /** A call; written by who makes it, before done. */
    private static final class Call<V> {
        private final WaitGroup done = new WaitGroup();
        private V value;
        private Throwable thrown;

        Call() {
            done.add(1);
        }

        void make(Callable<V> f) {
            try {
                value = f.call();
            } catch (Throwable t) {
                thrown = t;
            }
        }

        V result(boolean mine) throws Exception {
            if (thrown == Goexit.INSTANCE && !mine) {
                throw new IllegalStateException("singleflight: the call was ended by goexit");
            }
            if (thrown != null) {
                throw SingleFlight.<RuntimeException>sneaky(thrown);
            }
            return value;
        }
    }

    /** Nothing under way. */
    public SingleFlight() {
    }

    /**
     * Returns what {@code f} returns, or, while another call with an equal key is under way, what that one returns.
     *
     * @throws Exception what the call threw: the same object for all who waited for it
     */
    public V run(K key, Callable<V> f) throws Exception {
        Objects.requireNonNull(f, "run of nil func value");
        Call<V> mine = new Call<>();
        Call<V> c = mutex.with(() -> calls.putIfAbsent(key, mine));
        if (c != null) {
            c.done.await();
            return c.result(false);
        }
        mine.make(f);
        boolean unused = mutex.with(() -> calls.remove(key, mine));
        mine.done.done();
        return mine.result(true);
    }

    /** Has the next call with this key made anew, even while one is under way. */
    public void forget(K key) {
        Call<V> unused = mutex.with(() -> calls.remove(key));
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E sneaky(Throwable t) throws E {
        throw (E) t;
    }
}
