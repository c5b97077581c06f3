// SPDX-License-Identifier: Apache-2.0
package resp;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Keys and values. Thread-safe. */
final class Store {
    private static final long SECOND = 1000;

    /** A value; {@code expires} is a time of the clock in milliseconds, 0 for never. */
    private record Value(byte[] bytes, long expires) {
        boolean lives() {
            return expires == 0 || System.currentTimeMillis() < expires;
        }
    }

    private final Map<Bytes, Value> values = new ConcurrentHashMap<>();
    /** Whether some values may have a time: {@link #sweep} looks for them. Set after such a value is in the map. */
    private volatile boolean timed;

    /** Null when there is none. */
    byte[] get(Bytes key) {
        Value v = values.get(key);
        if (v == null || v.lives()) {
            return v == null ? null : v.bytes;
        }
        boolean _ = values.remove(key, v);
        return null;
    }

    void set(Bytes key, byte[] value) {
        Value v = new Value(value, 0);
        if (values.replace(key, v) == null) {
            values.put(key.copy(), v);
        }
    }

    boolean delete(Bytes key) {
        Value v = values.remove(key);
        return v != null && v.lives();
    }

    /**
     * Adds one to a number; none counts as 0.
     *
     * @throws NumberFormatException when the value is no number
     * @throws ArithmeticException when it is the greatest
     */
    long increment(Bytes key) {
        for (;;) {
            Value old = values.get(key);
            boolean lives = old != null && old.lives();
            long n = lives ? Math.addExact(Numbers.parse(old.bytes, 0, old.bytes.length), 1) : 1;
            Value v = new Value(Numbers.text(n), lives ? old.expires : 0);
            if (old == null ? values.putIfAbsent(key.copy(), v) == null : values.replace(key, old, v)) {
                return n;
            }
        }
    }

    /** False when there is no such key. */
    boolean expire(Bytes key, long seconds) {
        long at = Math.addExact(System.currentTimeMillis(), Math.multiplyExact(seconds, SECOND));
        boolean there =
                values.computeIfPresent(key, (_, v) -> v.lives() ? new Value(v.bytes, Math.max(at, 1)) : null) != null;
        if (there) {
            timed = true;
        }
        return there;
    }

    int size() {
        return values.size();
    }

    /** Removes what has expired and nobody asks for. By one thread. */
    void sweep() {
        if (timed) {
            timed = false;
            for (Map.Entry<Bytes, Value> e : values.entrySet()) {
                if (!e.getValue().lives()) {
                    boolean _ = values.remove(e.getKey(), e.getValue());
                } else if (e.getValue().expires != 0) {
                    timed = true;
                }
            }
        }
    }
}
