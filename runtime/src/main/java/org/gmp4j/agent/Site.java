// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * One preemption point that has been reached at least once. It names its class and holds nothing of it, so it does not
 * keep a class loader alive.
 */
final class Site extends MutableCallSite implements Runnable {
    /** The method, and how many loops of the method hold this one. */
    final String method;
    final int depth;
    /** Whether C2 may vectorise the loop, so that arming the point costs much. */
    final boolean vector;
    /** Armed when it was linked, and for good: such a point is not in the list of armed ones. */
    final boolean eager;
    /** 1 while it is to be armed because a goroutine stopped here. (A VarHandle would take memory when first used, on sysmon.) */
    private final AtomicInteger learnt = new AtomicInteger();
    /** The site that was learnt before, until it is armed. Written before the site is published. */
    @Nullable Site learntBefore;
    /** Its place among those of its class. Written before the site is published. */
    @SuppressWarnings("NullAway.Init")
    Ref ref;
    private final MethodHandle unarmed;
    private @Nullable MethodHandle armed;

    /** Written under the registry's lock, and by the constructor. A thread at the point reads it without: it may ask for what is done. */
    boolean isArmed;
    int armings;
    /** When it was armed or last stopped a goroutine, by {@link System#nanoTime}; a benign race: any recent value does. */
    volatile long lastUse;

    /**
     * What our tables hold of a site. The code that links to the site holds it; when an agent has changed the class again, that code
     * goes with its last frame, and so does the site.
     */
    static final class Ref extends WeakReference<Site> {
        final ClassSites owner;
        /** The site that was linked before. Written before this is published, and then under the lock of {@link #owner}. */
        volatile @Nullable Ref before;

        Ref(Site site, ClassSites owner, ReferenceQueue<Object> gone) {
            super(site, gone);
            this.owner = owner;
        }
    }

    /** @param type {@code ()V}, or {@code ()Z} on the way back */
    Site(MethodType type, String method, int depth, boolean vector, boolean eager) {
        super(type);
        this.method = method;
        this.depth = depth;
        this.vector = vector;
        this.eager = eager && !vector;
        unarmed = (isBack() ? JdkPoint.UNARMED_BACK : JdkPoint.UNARMED).bindTo(this);
        setTarget(unarmed);
        if (this.eager) {
            prepare();
            arm();
        }
    }

    /** Called by a thread that reaches the point while {@code wanted}. */
    @Override
    public void run() {
        Points.reached(this);
    }

    /** Before {@link #arm}: takes the memory for it. */
    void prepare() {
        if (armed == null) {
            armed = (isBack() ? JdkPoint.ARMED_BACK : JdkPoint.ARMED).bindTo(this);
        }
    }

    private boolean isBack() {
        return type().returnType() == boolean.class;
    }

    void arm() {
        isArmed = true;
        armings++;
        lastUse = System.nanoTime();
        setTarget(armed);
    }

    /** Whether the caller is to put it among those to be armed. */
    boolean learn() {
        return learnt.compareAndSet(0, 1);
    }

    /** It is no longer among them. */
    void forget() {
        learnt.setRelease(0);
    }

    void disarm() {
        isArmed = false;
        setTarget(unarmed);
    }

    @Override
    public String toString() {
        return ref.owner.className + "." + method + " " + depth;
    }
}
