// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.sched.GStack;

/**
 * Labels of goroutines, which profiles show. They say for which request or task a goroutine works. A goroutine inherits the labels that
 * the caller of {@code go} has at that moment. Virtual threads with an identity begin without labels. Source: {@code runtime/pprof.Do} of
 * Go.
 */
public final class Labels {
    private Labels() {
    }

    /**
     * Runs {@code body} with these labels added to those of the calling goroutine. A label replaces one with the same key. After
     * {@code body} the goroutine has its former labels again.
     *
     * @throws IllegalStateException when the caller is not a goroutine
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

    /** Returns the labels of the calling goroutine; empty when it has none, or the caller is not a goroutine. */
    public static Map<String, String> current() {
        GStack st = GStack.current();
        return st == null || st.labels() == null ? Map.of() : st.labels();
    }
}
