// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import jdk.internal.vm.ThreadContainer;
import jdk.internal.vm.ThreadContainers;
import org.jspecify.annotations.Nullable;

/**
 * The pooled stacks of one scheduler as the JDK's tools see them: a container of threads, beside those of executors, which lists
 * its threads when asked; a goroutine that starts or ends does nothing for it. Structured scopes that a goroutine opens stand
 * below it. Virtual threads with an identity are not in it: the JDK lists those, as it started them.
 *
 * <p>A thread dump gets one thread after the other, each {@link Hold held} and named by its goroutine until the dump has read it. The
 * dump does not say when that is. So a stack is held until the next is asked for; and where that takes long, because
 * the dump waits for a disk, or never comes, because writing failed, a watching thread ({@link Watch}) ends the hold.
 */
public abstract class JdkContainer extends ThreadContainer {
    private static final String DUMPER = "jdk.internal.vm.ThreadDumper";
    private static final String SNAPSHOT = "jdk.internal.vm.ThreadSnapshot";
    private static final StackWalker CALLER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    /** How long a stack that moves is tried, before it is tried again after all others. */
    private static final long TRY_NANOS = 100_000;
    private static final long LAST_TRY_NANOS = 10_000_000;
    /** How often a hold that is older than that is checked. */
    private static final long LONG_NANOS = 5_000_000;
    private static final long WATCH_MILLIS = 1;

    private final String name;
    private final Object key;

    /** Registers it with the JDK, which keeps no strong reference. */
    protected JdkContainer(String name) {
        super(true);
        this.name = name;
        key = ThreadContainers.registerContainer(this);
    }

    /** A virtual thread of the process that is wanted; null for none. Ours that have no identity are not asked for. */
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

    /** The pooled stacks that have a goroutine now; one that gets its next goroutine meanwhile may come twice. */
    protected abstract Collection<Stack> stacks();

    /** What a dump is to call the goroutine on a stack that is held; null when none is on it any more. */
    protected abstract @Nullable String label(Stack st);

    /** The scheduler has closed. */
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

    /** The threads one by one, each held until the next is asked for. */
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
                watch = w;
                w.start();
            }
            w.release();
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
                Hold h = Hold.take(st);
                if (h != null) {
                    watch.hold = h;
                    String label = label(st);
                    if (label != null) {
                        h.name(label);
                        return true;
                    }
                    watch.release();
                    return false;
                }
                Thread.onSpinWait();
            } while (System.nanoTime() < end);
            return false;
        }
    }

    /**
     * Ends holds that last: as soon as the thread that dumps is seen at work on something else than the frames. Between its
     * asking for a thread and its look at the frames that thread reads a clock and nothing else; afterwards it writes.
     */
    private static final class Watch extends OwnThread {
        private final Thread dumper;
        /** The hold there is, set and cleared by the thread that dumps. */
        volatile @Nullable Hold hold;
        private volatile boolean ended;

        Watch(Thread dumper) {
            super("gmp-dump");
            this.dumper = dumper;
        }

        void release() {
            Hold h = hold;
            if (h != null) {
                hold = null;
                h.release();
            }
        }

        void end() {
            release();
            ended = true;
        }

        @Override
        public void run() {
            while (!ended) {
                try {
                    sleep(WATCH_MILLIS);
                } catch (InterruptedException e) {
                    continue; // Nobody has a reason to.
                }
                Hold h = hold;
                if (h != null && System.nanoTime() - h.since > LONG_NANOS) {
                    boolean gone = look(h);
                    if (gone) {
                        return;
                    }
                }
            }
        }

        /** Ends the hold if it is of no use any more; whether the dump has ended. */
        private boolean look(Hold h) {
            for (StackTraceElement e : dumper.getStackTrace()) {
                String c = e.getClassName();
                if (c.equals(SNAPSHOT) || c.equals(DUMPER)) {
                    return false;
                }
                if (c.startsWith("java.io.") || c.startsWith("java.nio.") || c.startsWith("sun.nio.")
                        || c.startsWith(DUMPER)) { // Its writers.
                    h.release();
                    return false;
                }
            }
            h.release();
            return true;
        }
    }
}
