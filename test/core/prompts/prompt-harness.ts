import type { PromptPartialDocument } from '../../../core/contract/protocol/prompts.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, type FakeSink, type Harness, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { idOf, messages, samplePartial, samplePrompt } from '../../support/samples/sample-prompts.ts';

export const otherWorkspace = idOf('another workspace');

export function harness(options: Parameters<typeof createHarness>[0] = {}): Harness {
  const gateway = createHarness(options);
  const prompts = [
    samplePrompt(
      'pp-chat',
      [
        { template: messages('You help {{name}}.', 'Hello, {{name}}!') },
        { template: messages('v2 {{name}}') },
        { template: messages('staging {{name}}') },
      ],
      { labels: { staging: [{ version: 3, weight: 1 }] } },
    ),
    samplePrompt('pp-types', [{ template: messages('n={{n}} b={{b}} o={{o}} k={{o.k}} l={{l}}') }]),
    samplePrompt('pp-section', [
      { template: messages('{{#show}}shown {{/show}}{{^show}}hidden {{/show}}{{#list}}[{{t}}]{{/list}}') },
    ]),
    samplePrompt('pp-stream', [{ template: messages('{{name}}'), parameters: { stream: true } }]),
    samplePrompt('pp-text', [{ template: 'Say {{name}} "now"' }]),
    samplePrompt('pp-partial', [{ template: messages('{{>pl-greet}} bye {{name}}') }]),
    samplePrompt('pp-partial-missing', [{ template: messages('{{>pl-none}} {{#a}}{{>pl-none2}}{{/a}}') }]),
    samplePrompt('pp-varpartial', [{ template: messages('{{>>which}} {{name}}') }]),
    samplePrompt('pp-cycle', [{ template: '{{>pl-a}}' }]),
    samplePrompt('pp-raw', [
      { template: '[{{#few}}{"role":"user","content":{{.}}},{{/few}}{"role":"user","content":"{{x}}"}{{tail}}]', isRaw: true },
    ]),
    samplePrompt('pp-object', [{ template: '{"a":1}', isRaw: true }]),
    samplePrompt('pp-broken', [{ template: '{{#open}} never closed' }]),
    samplePrompt('pp-long', [{ template: '{{#list}}{{#list}}{{t}}{{/list}}{{/list}}' }]),
    samplePrompt('pp-tools', [
      { template: 'x', parameters: {}, tools: [{ type: 'function' }], functions: [], toolChoice: 'auto' },
    ]),
    samplePrompt('pp-other', [{ template: messages('other {{name}}'), model: 'm-other', parameters: {} }]),
  ];
  const partials: PromptPartialDocument[] = [
    samplePartial('pl-greet', ['Dear {{name}}, "hi"', 'second']),
    samplePartial('pl-a', ['{{>pl-b@1}}']),
    samplePartial('pl-b', ['{{>pl-a}}']),
  ];
  for (const prompt of prompts) {
    gateway.documents.set(`prompt ${workspaceId}/${prompt.slug}`, prompt);
    gateway.documents.set(`prompt ${workspaceId}/${prompt.id}`, prompt);
  }
  for (const partial of partials) gateway.documents.set(`prompt-partial ${workspaceId}/${partial.slug}`, partial);
  return gateway;
}

export function dataOf(reply: FakeSink): JsonObject {
  return reply.json.data as JsonObject;
}

export function errorOf(reply: FakeSink): JsonObject {
  return reply.json.error as JsonObject;
}

export function messageOf(reply: FakeSink): unknown {
  return errorOf(reply).message;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into many fields
export function bodyOf(gateway: Harness, index = 0): any {
  return JSON.parse(Buffer.from(gateway.calls[index]?.body as Uint8Array).toString());
}
