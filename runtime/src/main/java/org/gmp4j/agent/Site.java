package org.gmp4j.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;

/**
 * One preemption point that has been reached at least once. It names its class and holds nothing of it, so it does not
 * keep a class loader alive.
 */
final class Site extends MutableCallSite implements Runnable {
    private static final MethodType VOID = MethodType.methodType(void.class);

    /** The method, and how many loops of the method hold this one. */
    final String method;
    final int depth;
    /** The class's sites, and the one that was linked before. Written before the site is published. */
    ClassSites owner;
    Site before;
    private final MethodHandle unarmed;
    private MethodHandle armed;

    /** Under the registry's lock. */
    boolean isArmed;
    int armings;
    /** When it was armed or last stopped a goroutine, by {@link System#nanoTime}; a benign race: any recent value does. */
    volatile long lastUse;

    Site(String method, int depth) {
        super(VOID);
        this.method = method;
        this.depth = depth;
        unarmed = JdkPoint.UNARMED.bindTo(this);
        setTarget(unarmed);
    }

    /** Called by a thread that reaches the point while {@code wanted}. */
    @Override
    public void run() {
        lastUse = System.nanoTime();
        Points.reached();
    }

    /** Before {@link #arm}: takes the memory for it. */
    void prepare() {
        if (armed == null) {
            armed = JdkPoint.ARMED.bindTo(this);
        }
    }

    void arm() {
        isArmed = true;
        armings++;
        lastUse = System.nanoTime();
        setTarget(armed);
    }

    void disarm() {
        isArmed = false;
        setTarget(unarmed);
    }

    @Override
    public String toString() {
        return owner.className + "." + method + " " + depth;
    }
}
