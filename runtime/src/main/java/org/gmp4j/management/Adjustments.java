// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.management;

import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.gmp4j.config.Procs;
import org.gmp4j.config.Quantum;
import org.gmp4j.config.QuantumText;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;

/** The settings of a scheduler that can be changed while it runs, by {@code GmpMXBean.set}. {@link Setting} lists them. Thread-safe. */
final class Adjustments implements Function<List<String>, String> {
    private static final String KNOWN = Stream.of(Setting.values()).map(Setting::key).collect(Collectors.joining(" and "));

    private final Scheduler s;

    Adjustments(Scheduler s) {
        this.s = s;
    }

    /**
     * A setting. Settings are applied in the order of these constants: PROCS, which may fail for lack of memory, comes before QUANTUM,
     * which cannot fail.
     */
    private enum Setting {
        PROCS("a number from 1 to " + Procs.MAX) {
            @Override
            Runnable change(Scheduler s, String value) {
                int n = value.matches("[0-9]{1,9}") ? Integer.parseInt(value) : 0;
                if (n < 1 || n > Procs.MAX) {
                    throw new IllegalArgumentException("use " + possible);
                }
                return () -> {
                    int _ = StopTheWorld.setProcs(s, n);
                };
            }

            @Override
            String value(Scheduler s) {
                return Integer.toString(s.gomaxprocs());
            }
        },
        QUANTUM(QuantumText.POSSIBLE) {
            @Override
            Runnable change(Scheduler s, String value) {
                Quantum quantum = QuantumText.parse(value);
                return () -> s.quantum = quantum;
            }

            @Override
            String value(Scheduler s) {
                return QuantumText.format(s.quantum);
            }
        };

        final String possible;

        Setting(String possible) {
            this.possible = possible;
        }

        String key() {
            return name().toLowerCase(Locale.ROOT);
        }

        /**
         * Checks the value and returns the action that sets it. This method changes nothing.
         *
         * @throws IllegalArgumentException when the value is bad; the message says what to use
         */
        abstract Runnable change(Scheduler s, String value);

        abstract String value(Scheduler s);
    }

    /**
     * Applies all changes if all are valid, and none otherwise.
     *
     * @param changes each of the form {@code name=value}
     * @return a line for each setting: its name and its present value
     * @throws IllegalArgumentException when a change is bad, with one sentence
     */
    @Override
    public String apply(List<String> changes) {
        Map<Setting, Runnable> actions = new EnumMap<>(Setting.class);
        for (String change : changes) {
            int equals = change.indexOf('=');
            Setting setting = setting(equals < 0 ? change : change.substring(0, equals));
            if (equals < 0) {
                throw new IllegalArgumentException(setting.key() + " needs a value: use " + setting.key() + "= and " + setting.possible);
            }
            if (actions.put(setting, action(setting, change.substring(equals + 1))) != null) {
                throw new IllegalArgumentException(setting.key() + " is given twice");
            }
        }
        actions.values().forEach(Runnable::run);
        return Stream.of(Setting.values()).map(e -> e.key() + "=" + e.value(s) + "\n").collect(Collectors.joining());
    }

    private static Setting setting(String key) {
        for (Setting e : Setting.values()) {
            if (e.key().equals(key)) {
                return e;
            }
        }
        throw new IllegalArgumentException("\"" + key + "\" cannot be changed: only " + KNOWN + " can");
    }

    private Runnable action(Setting setting, String value) {
        try {
            return setting.change(s, value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(setting.key() + " is \"" + value + "\": " + e.getMessage(), e);
        }
    }
}
