// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.Closeable;
import java.io.IOException;

/** What takes connections, on the loopback address: nobody has to give a password. */
interface Listener extends Closeable {
    int port();

    /** Waits for a connection. An IOException when this is closed, or when there is no descriptor for it just now. */
    Connection accept() throws IOException;

    @Override
    void close();
}
