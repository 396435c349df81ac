import { describe, expect, it } from 'vitest';
import { reportsLostSession } from '../../../../core/mcp/sessions/lost-session.ts';

const error = (message: string, id: unknown = null) => JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } });

describe('a session of the gateway is lost after a 400', () => {
  it.each([
    ['of the SDK for TypeScript', error('Bad Request: No valid session ID provided')],
    ['of the SDK for Python', error('Bad Request: No valid session ID provided', 'server-error')],
    ['without an id', '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"}}'],
    ['of earlier versions of the SDK for Python, as text', 'Bad Request: No valid session ID provided'],
    ['of mcp-go, as text with a line end', 'Invalid session ID\n'],
    ['of servers like the examples', 'Invalid or missing session ID'],
    ['with the text of a 404', error('Session not found')],
    ['with the name of the header', error('Bad Request: Mcp-Session-Id header is required')],
    ['with an end', error('Session has expired.')],
    ['in another form', '{"error":"Unknown session"}'],
  ])('%s', (_what, body) => expect(reportsLostSession(body, 9)).toBe(true));
});

describe('a session of the gateway is not lost after a 400', () => {
  it.each([
    ['about a session of the tool', error('The session of the browser could not be opened: no valid session ID provided')],
    ['that is the response to the request', error('Session not found', 9)],
    ['about parameters', error('Invalid params: session is required by the tool book')],
    ['about another thing', error('Bad Request: Unsupported protocol version')],
    ['with a result', '{"jsonrpc":"2.0","id":null,"result":{"message":"Session not found"}}'],
    ['of a proxy', '<html><title>Session not found</title></html>'],
    ['without a body', ''],
    ['with too many values to be parsed', `{"error":"Unknown session","all":[${'{},'.repeat(400_001)}1]}`],
  ])('%s', (_what, body) => expect(reportsLostSession(body, 9)).toBe(false));
});
