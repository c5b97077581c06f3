// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

import static io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING;
import static io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING;
import static io.grpc.MethodDescriptor.MethodType.UNARY;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

/**
 * A gRPC server and its clients, as any others, which were not written for goroutines: both on an executor of virtual threads. Calls of
 * three kinds, one that fails, one that is too late. Prints what came of them, the same in each run, and then what ran the handlers.
 */
public final class GrpcProgram {
    private static final int CALLERS = 20;
    private static final int CALLS = 15;
    private static final int STREAM = 25;

    private static final MethodDescriptor<String, String> REVERSE = method(UNARY, "Reverse");
    private static final MethodDescriptor<String, String> COUNT = method(SERVER_STREAMING, "Count");
    private static final MethodDescriptor<String, String> TALK = method(BIDI_STREAMING, "Talk");
    private static final MethodDescriptor<String, String> LATE = method(UNARY, "Late");

    private GrpcProgram() {
    }

    /** Works, and ends. */
    public static void main(String[] args) throws Exception {
        Seen seen = new Seen();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            Server server = NettyServerBuilder.forAddress(any).executor(threads).addService(service(seen)).build().start();
            ManagedChannel channel = NettyChannelBuilder.forAddress(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort()))
                    .usePlaintext()
                    .executor(threads)
                    .build();
            List<Callable<Integer>> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                int number = i;
                callers.add(() -> calls(channel, number));
            }
            int right = 0;
            for (Future<Integer> f : threads.invokeAll(callers)) {
                right += f.get();
            }
            System.out.println("right " + right);
            System.out.println("fails " + status(channel, REVERSE, "", CallOptions.DEFAULT));
            System.out.println("late " + status(channel, LATE, "x", CallOptions.DEFAULT.withDeadlineAfter(50, TimeUnit.MILLISECONDS)));
            channel.shutdown();
            System.out.println("channel ends " + channel.awaitTermination(1, TimeUnit.MINUTES));
            server.shutdown();
            System.out.println("server ends " + server.awaitTermination(1, TimeUnit.MINUTES));
        }
        seen.print();
    }

    private static ServerServiceDefinition service(Seen seen) {
        return ServerServiceDefinition.builder("Words")
                .addMethod(REVERSE, ServerCalls.asyncUnaryCall((word, answer) -> {
                    seen.here();
                    if (word.isEmpty()) {
                        answer.onError(Status.INVALID_ARGUMENT.withDescription("no word").asException());
                        return;
                    }
                    pause(1);
                    answer.onNext(new StringBuilder(word).reverse().toString());
                    answer.onCompleted();
                }))
                .addMethod(COUNT, ServerCalls.asyncServerStreamingCall((most, answer) -> {
                    seen.here();
                    for (int i = 0; i < Integer.parseInt(most); i++) {
                        answer.onNext(Integer.toString(i));
                    }
                    answer.onCompleted();
                }))
                .addMethod(TALK, ServerCalls.asyncBidiStreamingCall(answer -> new Echo(answer, seen)))
                .addMethod(LATE, ServerCalls.asyncUnaryCall((word, answer) -> pause(500)))
                .build();
    }

    private static int calls(ManagedChannel channel, int number) throws InterruptedException {
        int right = 0;
        for (int i = 0; i < CALLS; i++) {
            String word = "word-" + number + "-" + i + "x".repeat(i % 5 == 0 ? 30_000 : 0);
            String reversed = ClientCalls.blockingUnaryCall(channel, REVERSE, CallOptions.DEFAULT, word);
            right += reversed.contentEquals(new StringBuilder(word).reverse()) ? 1 : 0;
        }
        Iterator<String> counted =
                ClientCalls.blockingServerStreamingCall(channel, COUNT, CallOptions.DEFAULT, Integer.toString(STREAM));
        for (int i = 0; counted.hasNext(); i++) {
            right += counted.next().equals(Integer.toString(i)) ? 1 : 0;
        }
        Heard heard = new Heard();
        StreamObserver<String> talk = ClientCalls.asyncBidiStreamingCall(channel.newCall(TALK, CallOptions.DEFAULT), heard);
        for (int i = 0; i < STREAM; i++) {
            talk.onNext(Integer.toString(i));
        }
        talk.onCompleted();
        heard.over.await();
        return right + heard.right.get();
    }

    private static String status(ManagedChannel channel, MethodDescriptor<String, String> what, String word, CallOptions options) {
        try {
            return ClientCalls.blockingUnaryCall(channel, what, options, word);
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode().toString();
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // A call that is over is interrupted.
        }
    }

    private static MethodDescriptor<String, String> method(MethodDescriptor.MethodType type, String name) {
        MethodDescriptor.Marshaller<String> text = new MethodDescriptor.Marshaller<>() {
            @Override
            public InputStream stream(String value) {
                return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
            }

            @Override
            public String parse(InputStream in) {
                try {
                    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
        return MethodDescriptor.newBuilder(text, text).setType(type).setFullMethodName("Words/" + name).build();
    }

    /** Says what it hears. */
    private record Echo(StreamObserver<String> answer, Seen seen) implements StreamObserver<String> {
        @Override
        public void onNext(String word) {
            seen.here();
            answer.onNext(word);
        }

        @Override
        public void onError(Throwable t) {
            t.printStackTrace();
        }

        @Override
        public void onCompleted() {
            answer.onCompleted();
        }
    }

    /** Counts the words that come in the order in which they were said. */
    private static final class Heard implements StreamObserver<String> {
        private final AtomicInteger right = new AtomicInteger();
        private final CountDownLatch over = new CountDownLatch(1);

        @Override
        public void onNext(String word) {
            if (word.equals(Integer.toString(right.get()))) {
                right.incrementAndGet();
            }
        }

        @Override
        public void onError(Throwable t) {
            t.printStackTrace();
            over.countDown();
        }

        @Override
        public void onCompleted() {
            over.countDown();
        }
    }
}
