// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.invoke.MutableCallSite;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * One preemption point that has been reached at least once, or all points at one loop depth of a method, which are armed together. A site
 * has the name of its class but no reference to the class, so it does not keep a class loader alive. It is a call site because C2 takes a
 * call site's target for a constant and compiles again when the target changes ({@link JdkPoint}).
 */
final class Site extends MutableCallSite implements Runnable {
    final String method;
    /** The number of the method's loops around this point's loop. */
    final int depth;
    /** Whether C2 may vectorise the loop, so that arming the point costs much. */
    final boolean vector;
    /** Whether the point was armed for good when it was linked. Such a point is not in the list of armed points. */
    final boolean eager;
    /** It is 1 from {@link #learn} to {@link #forget}. (A VarHandle would take memory at its first use, on sysmon.) */
    private final AtomicInteger learnt = new AtomicInteger();
    /** The site below this one on the stack of sites to be armed, or null. Written before the site is pushed, and by armLearnt. */
    @Nullable Site learntBefore;
    /** The reference to this site in the list of its class. Written before the site is published. */
    @SuppressWarnings("NullAway.Init")
    Ref ref;

    /**
     * Whether the point is armed. Written by the constructor and under the lock of {@link Points}. A thread at the point reads it without
     * the lock, and may then record a point that is armed already, which does no harm.
     */
    boolean isArmed;
    int armings;
    /**
     * The nanoTime at which the point was armed or last stopped a goroutine. It is written in a benign race, because any recent value is
     * good enough.
     */
    volatile long lastUse;

    /**
     * The weak reference to a site in the tables. Only code that links to the site refers to it strongly. When an agent has changed the
     * class again, the old code is freed after the end of its last frame, and then the site.
     */
    static final class Ref extends WeakReference<Site> {
        final ClassSites owner;
        /** The site that was linked before this one. Written before this object is published, and then under the lock of {@link #owner}. */
        volatile @Nullable Ref before;

        Ref(Site site, ClassSites owner, ReferenceQueue<Object> gone) {
            super(site, gone);
            this.owner = owner;
        }
    }

    Site(String method, int depth, boolean vector, boolean eager) {
        super(JdkPoint.UNARMED);
        this.method = method;
        this.depth = depth;
        this.vector = vector;
        this.eager = eager && !vector;
        if (this.eager) {
            arm();
        }
    }

    /** Called by a thread that reaches the point while {@code wanted}. */
    @Override
    public void run() {
        Points.reached(this);
    }

    void arm() {
        isArmed = true;
        armings++;
        lastUse = System.nanoTime();
        setTarget(JdkPoint.ARMED);
    }

    /** Marks the site to be armed. Returns whether the caller has to push it on the stack of such sites. */
    boolean learn() {
        return learnt.compareAndSet(0, 1);
    }

    /** Clears the mark of {@link #learn}, because the site is no longer on the stack. */
    void forget() {
        learnt.setRelease(0);
    }

    void disarm() {
        isArmed = false;
        setTarget(JdkPoint.UNARMED);
    }

    @Override
    public String toString() {
        return ref.owner.className + "." + method + " " + depth;
    }
}
