// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What a client sends: {@code *2\r\n$3\r\nGET\r\n$1\r\nk\r\n}, or words in a line. The arguments of a request stay in the
 * buffer, where they are valid until the next one is asked for.
 */
final class Request {
    static final int MOST_ARGS = 1024;
    /** The longest request, and so what the buffer takes at most, in bytes. */
    static final int MOST_BYTES = 1 << 20;

    private static final int MOST_LINE = 64 << 10;
    private static final int FIRST_BUFFER = 4 << 10;

    private byte[] in = new byte[FIRST_BUFFER];
    private int at;
    private int end;
    private final int[] from = new int[MOST_ARGS];
    private final int[] to = new int[MOST_ARGS];
    private int args;
    private final Bytes view = new Bytes();

    /** How many arguments there are, the command's name among them. */
    int args() {
        return args;
    }

    byte[] buffer() {
        return in;
    }

    int from(int arg) {
        return from[arg];
    }

    int to(int arg) {
        return to[arg];
    }

    /** An argument, until this is called again. */
    Bytes view(int arg) {
        return view.set(in, from[arg], to[arg]);
    }

    /** An argument to keep. */
    byte[] copy(int arg) {
        return Arrays.copyOfRange(in, from[arg], to[arg]);
    }

    String text(int arg) {
        return new String(in, from[arg], to[arg] - from[arg], StandardCharsets.ISO_8859_1);
    }

    long number(int arg) {
        return Numbers.parse(in, from[arg], to[arg]);
    }

    /** Has the name of the command in capitals. */
    void capitalise() {
        for (int i = from[0]; i < to[0]; i++) {
            if (in[i] >= 'a' && in[i] <= 'z') {
                in[i] -= 'a' - 'A';
            }
        }
    }

    /** The next request, if all of it has come; an empty one is passed over. */
    boolean next() throws Rubbish {
        int was = at;
        while (parsed()) {
            if (args > 0) {
                return true;
            }
            was = at;
        }
        at = was;
        return false;
    }

    /**
     * Reads more of a request, waiting for it.
     *
     * @return false at the end of what the client sends
     */
    boolean read(Connection c) throws IOException, Rubbish {
        if (at > 0) {
            System.arraycopy(in, at, in, 0, end - at);
            end -= at;
            at = 0;
        } else if (end == in.length) {
            if (in.length >= MOST_BYTES) {
                throw new Rubbish("too big a request");
            }
            in = Arrays.copyOf(in, 2 * in.length);
        }
        int n = c.read(in, end, in.length - end);
        end += Math.max(n, 0);
        return n >= 0;
    }

    private boolean parsed() throws Rubbish {
        args = 0;
        int eol = line();
        if (eol < 0) {
            return false;
        }
        if (in[at] != '*') {
            words(eol);
            return true;
        }
        int count = length(at + 1, eol, MOST_ARGS, "invalid multibulk length");
        at = eol + 2;
        for (int i = 0; i < count; i++) {
            eol = line();
            if (eol < 0) {
                return false;
            }
            if (in[at] != '$') {
                throw new Rubbish("expected '$'");
            }
            int length = length(at + 1, eol, MOST_BYTES, "invalid bulk length");
            at = eol + 2;
            if (end - at < length + 2) {
                return false;
            }
            argument(at, at + length);
            at += length + 2;
        }
        return true;
    }

    private void words(int eol) throws Rubbish {
        int start = at;
        for (int i = at; i <= eol; i++) {
            if (i == eol || in[i] == ' ' || in[i] == '\t') {
                if (i > start) {
                    argument(start, i);
                }
                start = i + 1;
            }
        }
        at = eol + 2;
    }

    private void argument(int begin, int stop) throws Rubbish {
        if (args == MOST_ARGS) {
            throw new Rubbish("too many arguments");
        }
        from[args] = begin;
        to[args++] = stop;
    }

    /** Where the line ends that begins here; -1 when its end is not there yet. */
    private int line() throws Rubbish {
        int last = Math.min(end - 1, at + MOST_LINE);
        for (int i = at; i < last; i++) {
            if (in[i] == '\r' && in[i + 1] == '\n') {
                return i;
            }
        }
        if (last == at + MOST_LINE) {
            throw new Rubbish("too big inline request");
        }
        return -1;
    }

    private int length(int begin, int stop, int most, String what) throws Rubbish {
        int v = 0;
        for (int i = begin; i < stop; i++) {
            int digit = in[i] - '0';
            v = digit < 0 || digit > 9 ? most + 1 : Math.min(10 * v + digit, most + 1);
        }
        if (v > most || begin == stop) {
            throw new Rubbish(what);
        }
        return v;
    }
}
