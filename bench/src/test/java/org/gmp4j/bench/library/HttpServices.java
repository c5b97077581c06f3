// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

import com.sun.net.httpserver.HttpServer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.HttpString;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ThreadPool;

/** Starts web servers whose requests run on threads that the caller gives. */
final class HttpServices {
    private static final int MAX_BODY = 1 << 20;
    private static final int EVENT_LOOPS = 2;

    private HttpServices() {
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private interface Stop {
        void run() throws Exception;
    }

    private record Started(InetSocketAddress address, Stop stop) implements HttpService {
        @Override
        public void close() throws IOException {
            try {
                stop.run();
            } catch (Exception e) {
                throw new IOException("the server does not stop", e);
            }
        }
    }

    /** The JDK's own: one thread of its own that accepts and selects, exchanges in {@code executor}. */
    static HttpService jdk(Executor executor) throws IOException {
        HttpServer server = HttpServer.create(anyPort(), 0);
        server.setExecutor(executor);
        server.createContext("/", exchange -> {
            try (exchange; OutputStream out = exchange.getResponseBody()) {
                byte[] body = exchange.getRequestBody().readAllBytes();
                byte[] answer = HttpService.answer(exchange.getRequestURI().getPath(), body);
                exchange.getResponseHeaders().set(HttpService.THREAD_HEADER, HttpService.thread());
                exchange.sendResponseHeaders(200, answer.length == 0 ? -1 : answer.length);
                out.write(answer);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        });
        server.start();
        return new Started(server.getAddress(), () -> server.stop(0));
    }

    /** Jetty with its support of virtual threads: selectors on platform threads of its own, handlers in {@code executor}. */
    static HttpService jetty(Executor executor) throws Exception {
        QueuedThreadPool own = new QueuedThreadPool();
        own.setVirtualThreadsExecutor(executor);
        return jetty(own);
    }

    /** Jetty with all of its work in {@code executor}: acceptors, selectors and handlers. */
    static HttpService jettyAllIn(Executor executor) throws Exception {
        return jetty(new AllIn(executor));
    }

    private record AllIn(Executor executor) implements ThreadPool {
        @Override
        public void execute(Runnable task) {
            executor.execute(task);
        }

        @Override
        public void join() {} // The executor's owner does.

        @Override
        public int getThreads() {
            return 0; // Not a pool: none is kept.
        }

        @Override
        public int getIdleThreads() {
            return 0;
        }

        @Override
        public boolean isLowOnThreads() {
            return false;
        }
    }

    private static HttpService jetty(ThreadPool threads) throws Exception {
        Server server = new Server(threads);
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(anyPort().getHostString());
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                byte[] body = Content.Source.asInputStream(request).readAllBytes();
                byte[] answer = HttpService.answer(Request.getPathInContext(request), body);
                response.getHeaders().put(HttpService.THREAD_HEADER, HttpService.thread());
                response.write(true, ByteBuffer.wrap(answer), callback);
                return true;
            }
        });
        server.start();
        return new Started(new InetSocketAddress(connector.getHost(), connector.getLocalPort()), server::stop);
    }

    /** Undertow: its I/O threads, handlers dispatched to {@code executor} and blocking there. */
    static HttpService undertow(Executor executor) {
        Undertow server = Undertow.builder()
                .setIoThreads(EVENT_LOOPS)
                .addHttpListener(0, anyPort().getHostString())
                .setHandler(exchange -> exchange.dispatch(executor, HttpServices::undertowHandler))
                .build();
        server.start();
        return new Started((InetSocketAddress) server.getListenerInfo().get(0).getAddress(), server::stop);
    }

    private static void undertowHandler(HttpServerExchange exchange) throws Exception {
        exchange.startBlocking();
        byte[] body = exchange.getInputStream().readAllBytes();
        byte[] answer = HttpService.answer(exchange.getRequestPath(), body);
        exchange.getResponseHeaders().put(new HttpString(HttpService.THREAD_HEADER), HttpService.thread());
        exchange.setResponseContentLength(answer.length);
        exchange.getOutputStream().write(answer);
        exchange.endExchange();
    }

    /** Netty: event loops in threads of {@code loops}, requests answered in {@code executor}. */
    static HttpService netty(ThreadFactory loops, Executor executor) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(EVENT_LOOPS, loops, NioIoHandler.newFactory());
        Channel listener = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline()
                                .addLast(new HttpServerCodec())
                                .addLast(new HttpObjectAggregator(MAX_BODY))
                                .addLast(new NettyHandler(executor));
                    }
                })
                .bind(anyPort())
                .sync()
                .channel();
        return new Started(
                (InetSocketAddress) listener.localAddress(),
                () -> group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync());
    }

    private static final class NettyHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
        private final Executor executor;

        NettyHandler(Executor executor) {
            this.executor = executor;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            String path = request.uri();
            byte[] body = ByteBufUtil.getBytes(request.content());
            executor.execute(() -> {
                try {
                    byte[] answer = HttpService.answer(path, body);
                    FullHttpResponse response = new DefaultFullHttpResponse(
                            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(answer));
                    response.headers()
                            .set(HttpHeaderNames.CONTENT_LENGTH, answer.length)
                            .set(HttpService.THREAD_HEADER, HttpService.thread());
                    context.writeAndFlush(response);
                } catch (InterruptedException e) {
                    context.close();
                }
            });
        }
    }
}
