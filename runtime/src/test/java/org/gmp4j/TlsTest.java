// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JDK's TLS sockets, both ends on goroutines. */
class TlsTest {
    private static final String PASSWORD = "changeit";

    @TempDir
    Path dir;

    /** In a JVM that has used no TLS before. */
    static final class Main {
        private static final int CONNECTIONS = 200;

        private Main() {
        }

        public static void main(String[] args) throws Exception {
            SSLContext tls = context(Path.of(args[0]));
            try (TestGmp gmp = TestGmp.procs(Integer.parseInt(args[1]));
                    SSLServerSocket server = (SSLServerSocket) tls.getServerSocketFactory().createServerSocket(0, CONNECTIONS,
                            InetAddress.getLoopbackAddress())) {
                gmp.run(() -> {
                    WaitGroup all = new WaitGroup();
                    for (int i = 0; i < CONNECTIONS; i++) {
                        int sent = i;
                        all.go(() -> ask(tls, server, sent));
                        all.go(() -> answer(server));
                    }
                    all.await();
                });
                System.out.println("done");
            }
        }

        private static SSLContext context(Path keys) throws GeneralSecurityException, IOException {
            KeyStore store = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(keys)) {
                store.load(in, PASSWORD.toCharArray());
            }
            KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
            own.init(store, PASSWORD.toCharArray());
            TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
            trusted.init(store);
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
            return tls;
        }

        private static void ask(SSLContext tls, SSLServerSocket server, int sent) {
            try (SSLSocket s = (SSLSocket) tls.getSocketFactory().createSocket(server.getInetAddress(), server.getLocalPort())) {
                s.getOutputStream().write(sent);
                assertEquals((byte) (sent + 1), (byte) s.getInputStream().read());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void answer(SSLServerSocket server) {
            try (SSLSocket s = (SSLSocket) server.accept()) {
                s.getOutputStream().write(s.getInputStream().read() + 1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Hundreds of handshakes at once, with what the JDK initialises once. */
    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"1", "2"})
    void manyAtOnce(String procs) throws Exception {
        Path keys = dir.resolve("keys");
        Process keytool = new ProcessBuilder(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair",
                "-alias", "own", "-keyalg", "EC", "-dname", "CN=localhost", "-storetype", "PKCS12", "-keystore", keys.toString(),
                "-storepass", PASSWORD)).inheritIO().start();
        assertEquals(0, keytool.waitFor());
        ChildJvm.Result r = new ChildJvm(Main.class).run(keys.toString(), procs);
        assertEquals("done\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
