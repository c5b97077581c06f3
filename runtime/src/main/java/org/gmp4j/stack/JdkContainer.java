// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import jdk.internal.vm.ThreadContainer;
import jdk.internal.vm.ThreadContainers;
import org.gmp4j.ffi.Inheritance;
import org.jspecify.annotations.Nullable;

/**
 * The container of the pooled stacks of one scheduler, through which the JDK's tools list them like the threads of executors. It makes the
 * list on request, at no cost for the start and the end of a goroutine. Structured scopes that a goroutine opens are children of the
 * container. Virtual threads that {@code Thread.start} has started are not in it: the JDK lists them itself.
 *
 * <p>A thread dump gets one thread after the other. Each is {@link DumpHold held}, and named by its goroutine, until the dump has read it.
 * The dump does not report when it has read a thread. So a stack is held until the dump requests the next one. The request comes late if
 * the dump waits for a disk, and never if writing has failed. Then another thread ({@link Watcher}) ends the hold.
 */
public abstract class JdkContainer extends ThreadContainer {
    private static final String DUMPER = "jdk.internal.vm.ThreadDumper";
    private static final String SNAPSHOT = "jdk.internal.vm.ThreadSnapshot";
    private static final StackWalker CALLER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    /** The time limit of the first attempt to hold a stack, ns. */
    private static final long TRY_NANOS = 100_000;
    /** The time limit of a second attempt, ns. It follows the attempts for all other stacks. */
    private static final long LAST_TRY_NANOS = 10_000_000;
    /** The age, ns, from which a hold is checked every {@link #WATCH_NANOS} ns. */
    private static final long LONG_NANOS = 5_000_000;
    private static final long WATCH_NANOS = 1_000_000;

    /** The dumps that hold stacks. */
    private static final CopyOnWriteArrayList<Watch> WATCHES = new CopyOnWriteArrayList<>();
    /** Null before the first dump. Guarded by the lock of {@link Watcher}. */
    private static @Nullable Watcher watcher;

    private final String name;
    private final Object key;

    /** Registers the container with the JDK, which keeps no strong reference. */
    protected JdkContainer(String name) {
        super(true);
        this.name = name;
        key = ThreadContainers.registerContainer(this);
    }

    /** Returns a virtual thread of the process for which {@code wanted} is true, or null for none. Pooled stacks are not searched. */
    static @Nullable Thread virtualThread(Predicate<Thread> wanted) {
        return virtualThread(ThreadContainers.root(), wanted);
    }

    private static @Nullable Thread virtualThread(ThreadContainer c, Predicate<Thread> wanted) {
        if (c instanceof JdkContainer) {
            return null;
        }
        for (Iterator<Thread> i = c.threads().iterator(); i.hasNext();) {
            Thread t = i.next();
            if (t.isVirtual() && wanted.test(t)) {
                return t;
            }
        }
        for (Iterator<ThreadContainer> i = c.children().iterator(); i.hasNext();) {
            Thread t = virtualThread(i.next(), wanted);
            if (t != null) {
                return t;
            }
        }
        return null;
    }

    /** Returns the pooled stacks that have a goroutine now. A stack that gets its next goroutine meanwhile may occur twice. */
    protected abstract Collection<Stack> stacks();

    /** Returns the name, for a dump, of the goroutine on a stack, or null when the stack has no goroutine any more. */
    protected abstract @Nullable String label(Stack st);

    /** Removes the container from the JDK's list. Called when the scheduler has closed. */
    public final void deregister() {
        ThreadContainers.deregisterContainer(key);
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final Stream<Thread> threads() {
        List<Stack> stacks = stacks().stream().distinct().toList();
        if (CALLER.getCallerClass().getName().equals(DUMPER)) {
            return StreamSupport.stream(new Held(stacks), false);
        }
        return stacks.stream().map(st -> st.thread);
    }

    /** Returns the threads one by one. Each is held until the next is requested. */
    private final class Held extends Spliterators.AbstractSpliterator<Thread> {
        private final Thread dumper = Thread.currentThread();
        private final List<Stack> stacks;
        private final List<Stack> moving = new ArrayList<>();
        private int next;
        private @Nullable Watch watch;

        Held(List<Stack> stacks) {
            super(stacks.size(), Spliterator.DISTINCT | Spliterator.NONNULL);
            this.stacks = stacks;
        }

        @Override
        public boolean tryAdvance(Consumer<? super Thread> action) {
            Watch w = watch;
            if (w == null) {
                w = new Watch(dumper);
                Watcher.add(w);
                watch = w;
            }
            w.next();
            while (next < stacks.size() + moving.size()) {
                boolean again = next >= stacks.size();
                Stack st = again ? moving.get(next - stacks.size()) : stacks.get(next);
                next++;
                if (st.thread == dumper || hold(w, st, again ? LAST_TRY_NANOS : TRY_NANOS)) {
                    action.accept(st.thread);
                    return true;
                }
                if (!again && label(st) != null) {
                    moving.add(st);
                }
            }
            w.end();
            return false;
        }

        @Override
        public void forEachRemaining(Consumer<? super Thread> action) {
            try {
                super.forEachRemaining(action);
            } finally {
                if (watch != null) {
                    watch.end();
                }
            }
        }

        private boolean hold(Watch watch, Stack st, long nanos) {
            long end = System.nanoTime() + nanos;
            do {
                DumpHold h = DumpHold.take(st);
                if (h != null) {
                    watch.hold = h;
                    boolean held = false;
                    try {
                        Watcher.keep(watch);
                        String label = Watcher.isDumper(st.thread) ? null : label(st);
                        if (label != null) {
                            h.name(label);
                            held = true;
                        }
                    } finally { // There may be no memory.
                        if (!held) {
                            watch.next();
                        }
                    }
                    return held;
                }
                Thread.onSpinWait();
            } while (System.nanoTime() < end);
            return false;
        }
    }

    /**
     * Ends long holds, as soon as a stack trace of the dumping thread shows that the thread no longer reads frames. Between the request for
     * a thread and the read of its frames the dumping thread only reads a clock. Then it writes the frames to the dump.
     */
    private static final class Watch {
        private final Thread dumper;
        /** The present hold. Written by the dumping thread. */
        volatile @Nullable DumpHold hold;
        /** The nanoTime at which the dumping thread requested its present thread. */
        private volatile long since = System.nanoTime();
        private volatile boolean ended;
        /** Whether {@link Watcher} has ceased to check this watch. */
        private volatile boolean dropped;

        Watch(Thread dumper) {
            this.dumper = dumper;
        }

        /** Ends the present hold, because the dumping thread has requested the next thread. */
        void next() {
            release();
            hold = null;
            since = System.nanoTime();
        }

        void end() {
            release();
            ended = true;
        }

        private void release() {
            DumpHold h = hold;
            if (h != null) {
                h.release();
            }
        }

        /** Ends the hold if it is long and the dump no longer needs it. Returns whether the dump seems to have ended. */
        boolean isOver() {
            return ended || System.nanoTime() - since > LONG_NANOS && !isHeld() && check();
        }

        /** Returns whether another dump holds the dumping thread. A stack trace of that thread would wait for the end of the hold. */
        private boolean isHeld() {
            Stack st = Stack.of(dumper);
            return st != null && st.hold != null;
        }

        /**
         * Ends the hold if the dump no longer needs it. Returns whether the dump seems to have ended. A writer with more frames than a
         * stack trace may have (1,024, or {@code -XX:MaxJavaStackTraceDepth}) hides the dump.
         */
        private boolean check() {
            DumpHold h = hold; // Read before the trace: the trace says nothing about a later hold.
            boolean dumps = false;
            boolean writes = false;
            for (StackTraceElement e : dumper.getStackTrace()) { // The innermost frame comes first.
                String c = e.getClassName();
                boolean reads = c.equals(SNAPSHOT) || c.equals(DUMPER);
                if (reads && !writes) {
                    return false;
                }
                dumps |= c.startsWith(DUMPER); // The dumper's writers are nested classes.
                writes |= c.startsWith("java.io.") || c.startsWith("java.nio.") || c.startsWith("sun.nio.")
                        || c.startsWith(DUMPER) && !reads;
            }
            if (h != null) {
                h.release();
            }
            return !dumps;
        }
    }

    /**
     * The thread that checks the {@link Watch} of each dump. It is started for the first dump and never ends, because in JDK 25 a dump may
     * crash the JVM if a platform thread ends meanwhile.
     */
    private static final class Watcher extends OwnThread {
        private Watcher() {
            super("gmp-dump");
        }

        /** Begins to check a dump. The dump must not hold a stack before, because without this thread a hold may never end. */
        static synchronized void add(Watch w) {
            if (watcher == null) {
                Watcher first = new Watcher();
                first.start();
                watcher = first;
            }
            boolean _ = WATCHES.addIfAbsent(w);
            w.dropped = false;
            LockSupport.unpark(watcher);
        }

        /**
         * Checks a watch again if it was dropped while its dump went on. Called by the dumping thread after it has set {@code hold}. Either
         * it sees here that the watch was dropped, or {@link #drop} sees the hold.
         */
        static void keep(Watch w) {
            if (w.dropped) {
                add(w);
            }
        }

        /** Ceases to check a watch, unless its dump goes on and holds a stack now. */
        private static synchronized void drop(Watch w) {
            w.dropped = true; // Before hold is read. Partner: keep.
            DumpHold h = w.hold;
            if (h == null || h.isOver()) {
                boolean _ = WATCHES.remove(w);
            } else {
                w.dropped = false;
            }
        }

        /**
         * Returns whether the thread makes a dump now, and dumps need holds. Then other dumps leave the thread out, because two dumps that
         * held each other's threads would never end. Called while the thread is held. A thread that begins a dump adds its watch before it
         * holds the first stack.
         */
        static boolean isDumper(Thread t) {
            if (!JdkThreads.VERSION.dumpsNeedHolds) {
                return false;
            }
            for (Watch w : WATCHES) {
                if (w.dumper == t && !w.ended) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public void run() {
            Inheritance.beginPlain(); // The first dumping thread may be bound to CPUs, or have a low priority.
            for (;;) {
                if (WATCHES.isEmpty()) {
                    LockSupport.park();
                } else {
                    LockSupport.parkNanos(WATCH_NANOS);
                }
                boolean _ = Thread.interrupted(); // A park of an interrupted thread returns at once.
                for (int i = WATCHES.size() - 1; i >= 0; i--) { // By index, because there may be no memory for an iterator.
                    look(WATCHES.get(i)); // Only this thread removes watches.
                }
            }
        }

        private static void look(Watch w) {
            try {
                if (w.isOver()) {
                    drop(w);
                }
            } catch (Throwable t) {
                return; // There may be no memory. The thread goes on, because other dumps need it. The next look repeats this one.
            }
        }
    }
}
