// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClient;

/**
 * A client of Redis as any other, which was not written for goroutines: virtual threads that share a few connections of Jedis' pool.
 * Arguments: the server's port. Prints what came of it, the same in each run, and then what the work ran on.
 */
public final class RedisProgram {
    private static final int CALLERS = 20;
    private static final int CALLS = 30;
    private static final int CONNECTIONS = 4;
    private static final int MESSAGES = 50;

    private RedisProgram() {
    }

    /** Works, and ends. */
    public static void main(String[] args) throws Exception {
        Seen seen = new Seen();
        ConnectionPoolConfig few = new ConnectionPoolConfig();
        few.setMaxTotal(CONNECTIONS);
        try (RedisClient redis = RedisClient.builder().hostAndPort("localhost", Integer.parseInt(args[0])).poolConfig(few).build();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<Integer>> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                int number = i;
                callers.add(() -> calls(redis, seen, number));
            }
            int right = 0;
            for (Future<Integer> f : threads.invokeAll(callers)) {
                right += f.get();
            }
            System.out.println("right " + right + ", visits " + redis.get("visits"));
            System.out.println("messages " + messages(redis, threads, seen));
        }
        seen.print();
    }

    private static int calls(RedisClient redis, Seen seen, int number) {
        int right = 0;
        for (int i = 0; i < CALLS; i++) {
            seen.here();
            String key = "key-" + number + "-" + i;
            String value = "value " + i + "x".repeat(i % 10 == 0 ? 20_000 : 0);
            redis.set(key, value);
            redis.incr("visits");
            right += value.equals(redis.get(key)) ? 1 : 0;
        }
        try (Pipeline p = redis.pipelined()) {
            var first = p.get("key-" + number + "-1");
            var none = p.get("none");
            p.sync();
            return right + (first.get().equals("value 1") && none.get() == null ? 1 : 0);
        }
    }

    /** How many of the messages come to one that has subscribed, in order. */
    private static int messages(RedisClient redis, ExecutorService threads, Seen seen) throws Exception {
        CountDownLatch listens = new CountDownLatch(1);
        AtomicInteger right = new AtomicInteger();
        JedisPubSub listener = new JedisPubSub() {
            @Override
            public void onSubscribe(String channel, int channels) {
                listens.countDown();
            }

            @Override
            public void onMessage(String channel, String message) {
                seen.here();
                if (message.equals(Integer.toString(right.get())) && right.incrementAndGet() == MESSAGES) {
                    unsubscribe();
                }
            }
        };
        Future<?> listening = threads.submit(() -> redis.subscribe(listener, "news"));
        listens.await();
        for (int i = 0; i < MESSAGES; i++) {
            redis.publish("news", Integer.toString(i));
        }
        listening.get();
        return right.get();
    }
}
