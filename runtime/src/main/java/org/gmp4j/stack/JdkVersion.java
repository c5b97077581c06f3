// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import org.jspecify.annotations.Nullable;

/**
 * The versions of the JDK that the runtime runs on, and what differs between them for the runtime. No other class looks at the version.
 * (The agent's first class, which an older Java must be able to load, has the numbers a second time.)
 */
enum JdkVersion {
    JDK_25(25, false, true, false, "POLLERS", "implRegister", "implDeregister"),
    JDK_26(26, true, false, false, "POLLERS", "implRegister", "implDeregister"),
    JDK_27(27, true, false, true, "POLLER_GROUP", "implStartPoll", "implStopPoll");

    final int feature;
    /**
     * Whether {@code VirtualThread} announces its switches by {@code startTransition} and {@code endTransition}, to the whole JVM. Before
     * that {@code notifyJvmtiMount} and {@code notifyJvmtiUnmount} announced them to JVMTI alone.
     */
    final boolean transitions;
    /** Whether an {@code Object.wait} may be one of the JVM's own that no interrupt ends. */
    final boolean uninterruptibleWaits;
    /** Whether the JDK puts an adapter around the task of a virtual thread that it gives to a {@code ForkJoinPool}. */
    final boolean adaptsTasks;
    /** Whether a thread dump may crash on a virtual thread that moves meanwhile, so that it is given stacks that {@link Hold} holds. */
    final boolean dumpsNeedHolds;
    /** Whether a thread that joins another waits at its monitor, which the end of that thread takes therefore. */
    final boolean joinsByMonitor;
    /** The field of {@code sun.nio.ch.Poller} that leads to all pollers. */
    final String pollers;
    /** The methods by which a poller begins and ends to watch a descriptor. */
    final String startPoll;
    final String stopPoll;

    /** {@code transitions} came together with two of the others. */
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
