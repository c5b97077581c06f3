// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.annotation.Annotation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;

import org.gmp4j.context.Context;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;
import org.reactivestreams.tck.flow.FlowSubscriberBlackboxVerification;
import org.reactivestreams.tck.flow.FlowSubscriberWhiteboxVerification;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.BeforeMethod;

/** The TCK of Reactive Streams for the JDK's {@code Flow}, over both directions of {@link Chans}. Each of its rules is a test here. */
class FlowTckTest {
    /** For what has to come, ms. */
    private static final long PATIENCE = 20_000;
    /** For what must not come, ms; too short a wait misses a fault and never finds one that is none. */
    private static final long SILENCE = 5;
    /** Rules that a channel has no need to keep, or that ask for fixed times. */
    private static final Set<String> NOT_OURS = Set.of(
            // Each element goes to one subscriber.
            "optional_spec111_multicast_mustProduceTheSameElementsInTheSameSequenceToAllOfItsSubscribersWhenRequestingOneByOne",
            "optional_spec111_multicast_mustProduceTheSameElementsInTheSameSequenceToAllOfItsSubscribersWhenRequestingManyUpfront",
            "optional_spec111_multicast_mustProduceTheSameElementsInTheSameSequenceToAllOfItsSubscribersWhenRequestingMany"
                    + "UpfrontAndCompleteAsExpected",
            "optional_spec111_registeredSubscribersMustReceiveOnNextOrOnCompleteSignals",
            // It sleeps for a time in which a busy machine need not come so far: ChansTest.aSubscriberThatCancelsIsDropped.
            "required_spec313_cancelMustMakeThePublisherEventuallyDropAllReferencesToTheSubscriber");

    private static TestGmp gmp;

    @BeforeAll
    static void start() {
        gmp = TestGmp.procs(2);
    }

    @AfterAll
    static void end() {
        gmp.close();
    }

    private interface Ends {
        /** Ends what the rule has left. */
        void ends();
    }

    private static TestEnvironment environment() {
        return new TestEnvironment(PATIENCE, SILENCE, SILENCE, false);
    }

    private static List<DynamicTest> rules(int count, Callable<? extends Ends> verification) throws Exception {
        List<DynamicTest> all = new ArrayList<>();
        for (Method m : verification.call().getClass().getMethods()) {
            String name = m.getName();
            if (m.isAnnotationPresent(org.testng.annotations.Test.class) && !name.startsWith("untested_") && !NOT_OURS.contains(name)) {
                all.add(DynamicTest.dynamicTest(name, () -> run(verification.call(), m)));
            }
        }
        assertEquals(count, all.size(), "rules");
        return all;
    }

    private static void run(Ends v, Method rule) throws Throwable {
        try {
            callAll(v, BeforeClass.class);
            callAll(v, BeforeMethod.class);
            rule.invoke(v);
        } catch (InvocationTargetException e) {
            throw e.getCause(); // One that is skipped as well: none need be.
        } finally {
            callAll(v, AfterClass.class);
            v.ends();
        }
    }

    private static void callAll(Ends v, Class<? extends Annotation> marked) throws ReflectiveOperationException {
        for (Method m : v.getClass().getMethods()) {
            if (m.isAnnotationPresent(marked)) {
                Object _ = m.invoke(v);
            }
        }
    }

    @TestFactory
    List<DynamicTest> publisher() throws Exception {
        return rules(26, Publisher::new);
    }

    @TestFactory
    List<DynamicTest> subscriberFromOutside() throws Exception {
        return rules(11, BlackBox::new);
    }

    @TestFactory
    List<DynamicTest> subscriberFromWithin() throws Exception {
        return rules(14, WhiteBox::new);
    }

    static final class Publisher extends FlowPublisherVerification<Long> implements Ends {
        private final Context ctx = Context.background().withCancel();

        Publisher() {
            super(environment(), PATIENCE);
        }

        @Override
        public Flow.Publisher<Long> createFlowPublisher(long elements) {
            Chan<Long> c = Chan.make(2);
            gmp.gmp.go(() -> {
                try {
                    for (long i = 0; i < elements; i++) {
                        c.sendUnless(ctx, i);
                    }
                    c.close();
                } catch (RuntimeException e) {
                    assertEquals(ctx.err(), e);
                }
            });
            return Chans.publisher(gmp.gmp, c);
        }

        @Override
        public Flow.Publisher<Long> createFailedFlowPublisher() {
            return Chans.publisher(fn -> {
                throw new RejectedExecutionException("closed");
            }, Chan.make());
        }

        @Override
        public void ends() {
            ctx.cancel();
        }
    }

    static final class BlackBox extends FlowSubscriberBlackboxVerification<Integer> implements Ends {
        BlackBox() {
            super(environment());
        }

        @Override
        public Flow.Subscriber<Integer> createFlowSubscriber() {
            return new ChanSubscription<Integer>(4).subscriber();
        }

        @Override
        public Integer createElement(int i) {
            return i;
        }

        @Override
        public void ends() {
        }
    }

    static final class WhiteBox extends FlowSubscriberWhiteboxVerification<Integer> implements Ends {
        WhiteBox() {
            super(environment());
        }

        @Override
        protected Flow.Subscriber<Integer> createFlowSubscriber(WhiteboxSubscriberProbe<Integer> probe) {
            ChanSubscription<Integer> s = new ChanSubscription<>(16);
            Flow.Subscriber<Integer> to = s.subscriber();
            return new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription from) {
                    to.onSubscribe(from);
                    probe.registerOnSubscribe(new SubscriberPuppet() {
                        @Override
                        public void triggerRequest(long n) {
                            // It has asked for 16.
                        }

                        @Override
                        public void signalCancel() {
                            s.close();
                        }
                    });
                }

                @Override
                public void onNext(Integer v) {
                    to.onNext(v);
                    probe.registerOnNext(v);
                }

                @Override
                public void onError(Throwable t) {
                    to.onError(t);
                    probe.registerOnError(t);
                }

                @Override
                public void onComplete() {
                    to.onComplete();
                    probe.registerOnComplete();
                }
            };
        }

        @Override
        public Integer createElement(int i) {
            return i;
        }

        @Override
        public void ends() {
        }
    }

    /** What is left out is there. */
    @Test
    void namesOfRules() {
        List<String> all = Arrays.stream(Publisher.class.getMethods()).map(Method::getName).toList();
        assertEquals(List.of(), NOT_OURS.stream().filter(n -> !all.contains(n)).toList());
    }
}
