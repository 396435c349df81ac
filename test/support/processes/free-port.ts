import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

/**
 * Ports for servers that cannot listen on port 0 and report what they got. They lie below the range from which the kernel takes ports for
 * port 0 and for outgoing connections. Each process claims a slice of that range by listening on the first port of the slice.
 */
const first = 10_240;
const sliceSize = 64;
const sliceCount = Math.max(1, Math.floor((lowestKernelPort() - first) / sliceSize));

let claim: Promise<number> | null = null;
let handedOut = 0;

/** Returns different ports on which nothing listens and which no other process of the tests gets. */
export async function freePorts(count: number): Promise<number[]> {
  claim ??= claimSlice();
  const slice = await claim;
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    if (tries > 2 * sliceSize) throw new Error(`no ${count} free ports from ${slice} to ${slice + sliceSize - 1}`);
    const port = slice + 1 + (handedOut++ % (sliceSize - 1));
    const server = await listen(port);
    if (!server) continue;
    await once(server.close(), 'close');
    ports.push(port);
  }
  return ports;
}

/** Returns one such port. */
export async function freePort(): Promise<number> {
  return (await freePorts(1))[0] as number;
}

async function claimSlice(): Promise<number> {
  const start = Math.floor(Math.random() * sliceCount);
  for (let index = 0; index < sliceCount; index++) {
    const slice = first + ((start + index) % sliceCount) * sliceSize;
    const server = await listen(slice);
    if (!server) continue;
    server.unref();
    return slice;
  }
  throw new Error(`every slice of ports from ${first} on is in use`);
}

/** Resolves with null if the port is in use. */
async function listen(port: number): Promise<Server | null> {
  const server = createServer();
  try {
    await once(server.listen({ port, host: '127.0.0.1', exclusive: true }), 'listening');
    return server;
  } catch {
    return null;
  }
}

function lowestKernelPort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]);
  } catch {
    return 32_768;
  }
}
