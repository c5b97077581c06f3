// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.Map;

import org.jspecify.annotations.Nullable;


/**
 * The function of a goroutine, with the labels that the goroutine inherits from its starter, and the place where it was started, if that is
 * recorded. Nearly all goroutines have neither labels nor a place. They pay one load and one branch at their start.
 *
 * @param labels the labels, which must not be changed any more; null for none
 * @param site the place where the goroutine was started; null when that was not recorded
 * @param fn the goroutine's function
 */
public record Labelled(@Nullable Map<String, String> labels, @Nullable String site, Runnable fn) implements Runnable {
    @Override
    public void run() {
        fn.run(); // GStack does not call this method: it sets the labels and runs fn itself.
    }

    /** Returns the labels that a goroutine with this function will have; null for none. */
    public static @Nullable Map<String, String> of(@Nullable Runnable fn) {
        return fn instanceof Labelled l ? l.labels : null;
    }

    /** Returns the place where a goroutine with this function was started; null when that was not recorded. */
    public static @Nullable String siteOf(@Nullable Runnable fn) {
        return fn instanceof Labelled l ? l.site : null;
    }

    /** Returns the user's function in {@code fn}. */
    public static Runnable function(Runnable fn) {
        return fn instanceof Labelled l ? l.fn : fn;
    }
}
