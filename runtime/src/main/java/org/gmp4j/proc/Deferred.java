package org.gmp4j.proc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.RejectedExecutionException;

import org.gmp4j.lock.Note;
import org.gmp4j.struct.Schedt;

/**
 * Work that must be done, left by threads that have not the stack for it: sysmon does it, any scheduler's. A list that many
 * push to by CAS and one drains by exchanging it for null, so there is no ABA.
 *
 * <p>To add needs a few hundred bytes of stack, some thousand in the interpreter. Where not even those are left the error
 * comes out of the call before ours, as it would with the JDK's own scheduler: nobody can promise more than the JDK's
 * frames do, which changed the thread's state.
 */
public abstract class Deferred {
    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findStaticVarHandle(Deferred.class, "head", Deferred.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    @SuppressWarnings("unused") // Through HEAD.
    private static volatile Deferred head;
    /** How many sysmons there are that look; by them, under the class's lock. */
    private static volatile int drainers;

    private Deferred next;

    /** Work not yet left. */
    protected Deferred() {
    }

    /** Does it, on sysmon: must not wait for what user code may hold, nor throw. */
    protected abstract void run();

    /** A wake-up of the JDK: see {@link GStack#execute}. */
    static final class Wakeup extends Deferred {
        private final GStack st;
        private final Runnable task;

        Wakeup(GStack st, Runnable task) {
            this.st = st;
            this.task = task;
        }

        @Override
        protected void run() {
            if (st == null) {
                return; // The trial of begin.
            }
            try {
                st.executeNow(task);
            } catch (IllegalStateException | RejectedExecutionException e) {
                Stderr.print("gmp4j: a thread was not started, its Gmp is closed: " + task + "\n"); // Its starter is gone.
            }
        }
    }

    /** Leaves {@code d}; done within 60 ms. False, and nothing left, when no scheduler lives. */
    public static boolean add(Deferred d) {
        if (drainers == 0) {
            return false;
        }
        do {
            d.next = head;
        } while (!HEAD.compareAndSet(d.next, d));
        return true;
    }

    /** Does what was left; of sysmon. */
    static void drain() {
        if (head == null) {
            return;
        }
        Deferred list = null;
        for (Deferred d = (Deferred) HEAD.getAndSet((Deferred) null); d != null;) { // In the order they came.
            Deferred after = d.next;
            d.next = list;
            list = d;
            d = after;
        }
        for (; list != null; list = list.next) {
            list.run();
        }
    }

    /** Has {@code s}'s sysmon look at once; else one looks within 60 ms. */
    static void ring(Scheduler s) {
        try {
            Note.ring(Schedt.sysmonnoteAddress(s.sched));
        } catch (StackOverflowError e) {
            return; // There is not even room for that.
        }
    }

    /** A sysmon begins to look. Tries all of this out, as there would be no room to load and link it later. */
    static synchronized void begin() {
        drainers++;
        boolean unused = add(new Wakeup(null, null));
        drain();
    }

    /** A sysmon looks no more; the last does what is left. */
    static synchronized void end() {
        drainers--;
        drain();
    }
}
