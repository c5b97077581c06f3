// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.Map;

import org.jspecify.annotations.Nullable;


/**
 * The function of a goroutine together with the labels that it begins with, which are those of its starter, and with the place where it
 * was started, if that is recorded. Goroutines with neither, nearly all, cost a load and a branch when they are started.
 *
 * @param labels not to be changed any more; null for none
 * @param site where it was started; null when that was not noted
 * @param fn what it does
 */
public record Labelled(@Nullable Map<String, String> labels, @Nullable String site, Runnable fn) implements Runnable {
    @Override
    public void run() {
        fn.run(); // Not called by GStack, which sets the labels and runs fn itself.
    }

    /** The labels that a goroutine with this function will have; null for none. */
    public static @Nullable Map<String, String> of(@Nullable Runnable fn) {
        return fn instanceof Labelled l ? l.labels : null;
    }

    /** Where a goroutine with this function was started; null when that was not noted. */
    public static @Nullable String siteOf(@Nullable Runnable fn) {
        return fn instanceof Labelled l ? l.site : null;
    }

    /** The user's function. */
    public static Runnable function(Runnable fn) {
        return fn instanceof Labelled l ? l.fn : fn;
    }
}
