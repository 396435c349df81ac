import { expect, it } from 'vitest';
import { natsOptions } from '../../../core/nats/options.ts';

it('NATS options: user and password of the first URL, the default port, and no TLS', () => {
  const options = natsOptions('nats://me:p%40ss@one,nats://two:4333', 'svc test');
  expect(options).toMatchObject({
    servers: ['one:4222', 'two:4333'],
    user: 'me',
    pass: 'p@ss',
    name: 'svc test',
    timeout: 2_000,
  });
  expect(options.tls).toBeUndefined();
});

it('NATS options: a user without a password is a token', () => {
  const options = natsOptions('nats://t0ken@one', 'svc test');
  expect(options).toMatchObject({ token: 't0ken' });
  expect(options.user).toBeUndefined();
});

it('NATS options: tls:// requires TLS', () => {
  expect(natsOptions('tls://one', 'svc test').tls).toEqual({});
});

it('NATS options: the files of certificates are parameters of the first URL', () => {
  const url = 'tls://one?sslrootcert=/etc/ca.pem&sslcert=/etc/client.crt&sslkey=/etc/client.key,tls://two';
  expect(natsOptions(url, 'svc test')).toMatchObject({
    servers: ['one:4222', 'two:4222'],
    tls: { caFile: '/etc/ca.pem', certFile: '/etc/client.crt', keyFile: '/etc/client.key' },
  });
});
