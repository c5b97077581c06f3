// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.proc.GStack;

/**
 * Labels of goroutines, which profiles show: for what a goroutine works. A goroutine has those of the one that started it by
 * {@code go}, as they were then; threads with an identity begin without. Source: {@code runtime/pprof.Do} of Go.
 */
public final class Labels {
    private Labels() {
    }

    /**
     * Runs {@code body} with these labels added to those that the calling goroutine has, of two with the same key this one;
     * afterwards it has those that it had.
     *
     * @throws IllegalStateException when the caller is no goroutine
     */
    public static void run(Map<String, String> labels, Runnable body) {
        GStack st = GStack.current();
        if (st == null) {
            throw new IllegalStateException("Labels.run was called outside of a goroutine");
        }
        Map<String, String> before = st.labels();
        Map<String, String> all = new TreeMap<>(before == null ? Map.of() : before);
        all.putAll(labels);
        st.setLabels(Map.copyOf(all));
        try {
            body.run();
        } finally {
            st.setLabels(before);
        }
    }

    /** The labels of the calling goroutine; empty when it has none, or the caller is no goroutine. */
    public static Map<String, String> current() {
        GStack st = GStack.current();
        return st == null || st.labels() == null ? Map.of() : st.labels();
    }
}
