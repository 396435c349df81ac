import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

/**
 * Preloaded into the product (`--import`): resolves names of the clouds to this machine, and their port 443 to FAKE_CLOUDS_PORT.
 * Everything else is unchanged, including certificates and the gateway's own rules for addresses.
 */
const names = new Set((process.env.FAKE_CLOUDS_NAMES ?? '').split(','));
const port = Number(process.env.FAKE_CLOUDS_PORT);

const { lookup } = dns;
dns.lookup = (hostname, options, callback) => {
  if (!names.has(hostname)) return lookup(hostname, options, callback);
  process.nextTick(callback, null, [{ address: '127.0.0.1', family: 4 }]);
};
syncBuiltinESMExports();

const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  if (names.has(options?.host) && Number(options.port) === 443) options.port = port;
  return connect.apply(this, args);
};
