// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.config.Procs;
import org.gmp4j.config.Quantum;
import org.gmp4j.config.QuantumText;

/**
 * A pool in the setting {@code pools} of the default scheduler. Each pool is a further scheduler, which runs the virtual threads with
 * certain names. The setting's text is, for example, {@code batch:match=batch-*|export-*:procs=1,report:match=report-*}.
 */
final class PoolSettings {
    private static final String FORM = "write NAME:match=NAMES:procs=1, with commas between pools and | between names";
    private static final String MATCH = "match";
    private static final List<String> KNOWN = List.of(MATCH, "procs", "quantum", "spin", "affinity");

    private final String name;
    private final Map<String, String> values = new LinkedHashMap<>();

    private PoolSettings(String name) {
        this.name = name;
    }

    /**
     * Reads the pools.
     *
     * @throws IllegalArgumentException when the text is bad; its message is a sentence, and the caller puts the setting's name and value
     *     in front of it
     */
    static List<PoolSettings> parse(String text) {
        List<PoolSettings> all = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            PoolSettings pool = one(part.strip());
            for (PoolSettings other : all) {
                if (other.name.equals(pool.name)) {
                    throw new IllegalArgumentException("two pools are named \"" + pool.name + "\"");
                }
            }
            all.add(pool);
        }
        return all;
    }

    private static PoolSettings one(String text) {
        String[] parts = text.split(":", -1);
        PoolSettings pool = new PoolSettings(parts[0].strip());
        if (pool.name.isEmpty() || pool.name.indexOf('=') >= 0) {
            throw new IllegalArgumentException(FORM);
        }
        String last = null;
        for (int i = 1; i < parts.length; i++) {
            int equals = parts[i].indexOf('=');
            String key = equals < 0 ? "" : parts[i].substring(0, equals).strip();
            if (KNOWN.contains(key)) {
                last = key;
                if (pool.values.put(key, parts[i].substring(equals + 1).strip()) != null) {
                    throw new IllegalArgumentException("pool \"" + pool.name + "\" has two settings " + key);
                }
            } else if (last == null || last.equals(MATCH)) {
                throw new IllegalArgumentException("pool \"" + pool.name + "\" has no setting \"" + parts[i] + "\"; it has "
                        + String.join(", ", KNOWN));
            } else {
                String before = pool.values.put(last, pool.values.get(last) + ":" + parts[i]); // The value has a colon: spin=latency:50us.
            }
        }
        pool.check();
        return pool;
    }

    private void check() {
        for (String n : names()) {
            int star = n.indexOf('*');
            if (n.isEmpty() || n.equals("*") || star >= 0 && star != n.length() - 1) {
                throw new IllegalArgumentException("pool \"" + name + "\" needs names, such as match=batch-*|report: a name, or the "
                        + "beginning of names with a * behind it");
            }
        }
    }

    String name() {
        return name;
    }

    /** Returns the names of the pool's threads. A name that ends with {@code *} stands for all names that begin like it. */
    String[] names() {
        return values.getOrDefault(MATCH, "").strip().split("\\s*\\|\\s*", -1);
    }

    /**
     * Applies the settings to the builder.
     *
     * @throws IllegalArgumentException when a value is bad
     */
    void apply(Gmp.Builder b) {
        b.name(name);
        for (Map.Entry<String, String> setting : values.entrySet()) {
            String key = setting.getKey();
            String value = setting.getValue();
            try {
                apply(b, key, value);
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("pool \"" + name + "\": procs is \"" + value + "\": use a number from 1 to "
                        + Procs.MAX, e);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("pool \"" + name + "\": " + key + ": " + e.getMessage(), e);
            }
        }
    }

    private static void apply(Gmp.Builder b, String key, String value) {
        switch (key) {
            case "procs" -> b.procs(Procs.check(Integer.parseInt(value)));
            case "quantum" -> {
                Quantum q = QuantumText.parse(value);
                b.quantum(Duration.ofNanos(q.least()), Duration.ofNanos(q.most()));
            }
            case "spin" -> b.spin(SpinPolicy.parse(value));
            case "affinity" -> b.affinity(Affinity.parse(value));
            default -> {
                // The key is match: see names().
            }
        }
    }
}
