// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import org.jspecify.annotations.Nullable;

/**
 * The versions of the JDK that the runtime supports, and their differences. No other class depends on the version, except the agent's first
 * class. An older Java must be able to load that class, so it repeats the numbers.
 */
enum JdkVersion {
    JDK_25(25, false, true, false, "POLLERS", "implRegister", "implDeregister"),
    JDK_26(26, true, false, false, "POLLERS", "implRegister", "implDeregister"),
    JDK_27(27, true, false, true, "POLLER_GROUP", "implStartPoll", "implStopPoll");

    final int feature;
    /**
     * Whether {@code VirtualThread} announces its switches to the whole JVM, by {@code startTransition} and {@code endTransition}. Earlier
     * versions announce them only to JVMTI, by {@code notifyJvmtiMount} and {@code notifyJvmtiUnmount}.
     */
    final boolean transitions;
    /** Whether the JVM itself uses {@code Object.wait} for some waits that an interrupt does not end. */
    final boolean uninterruptibleWaits;
    /** Whether the JDK puts an adapter around the task of a virtual thread that it gives to a {@code ForkJoinPool}. */
    final boolean adaptsTasks;
    /**
     * Whether a thread dump may crash when a virtual thread is mounted or unmounted meanwhile. Then a dump gets only stacks that {@link
     * DumpHold} holds.
     */
    final boolean dumpsNeedHolds;
    /** Whether a thread that joins another waits at the monitor of that thread. Then a thread that ends takes its own monitor. */
    final boolean joinsByMonitor;
    /** The field of {@code sun.nio.ch.Poller} that leads to all pollers. */
    final String pollers;
    /** The method by which a poller begins to watch a descriptor. */
    final String startPoll;
    /** The method by which a poller stops watching a descriptor. */
    final String stopPoll;

    /** Makes a version. {@code uninterruptibleWaits} and {@code adaptsTasks} have the value of {@code transitions}. */
    JdkVersion(int feature, boolean transitions, boolean dumpsNeedHolds, boolean joinsByMonitor, String pollers, String startPoll,
            String stopPoll) {
        this.feature = feature;
        this.transitions = transitions;
        uninterruptibleWaits = transitions;
        adaptsTasks = transitions;
        this.dumpsNeedHolds = dumpsNeedHolds;
        this.joinsByMonitor = joinsByMonitor;
        this.pollers = pollers;
        this.startPoll = startPoll;
        this.stopPoll = stopPoll;
    }

    /** Returns the constant of a version, or null for a version that the runtime does not know. */
    static @Nullable JdkVersion of(Runtime.Version version) {
        for (JdkVersion v : values()) {
            if (v.feature == version.feature()) {
                return v;
            }
        }
        return null;
    }

    /** Returns a sentence that says why a JDK of this version cannot be used, or null if it can. */
    static @Nullable String otherThanOurs(Runtime.Version version) {
        return of(version) != null ? null
                : "gmp4j needs JDK 25, 26 or 27, this is %s: start the program with one of these".formatted(version);
    }
}
