import { parseObject } from '../contract/values/json/json.ts';
import { attachmentTokens, promptTexts, roughTokens, tokensBesideTexts } from '../contract/values/models/prompt-text.ts';
import { emptyUsage, type Usage } from '../contract/values/models/usage.ts';

/** Bytes at the beginning of a message that name its type. */
const headBytes = 256;
/** Longer messages are not parsed for an estimate. */
const parsedBytesMax = 4 * 1024 * 1024;
/** Base64 of 24 kHz and 16 bits: a token is 100 ms of sound of a client, and 50 ms of a model. */
const soundBytesPerToken = { input: 6_400, output: 3_200 } as const;

const soundOfClient = /"(?:input_audio_buffer\.append|realtimeInput|realtime_input)"/;
const soundOfModel = /audio\.delta"|"inlineData"/;
const textOfModel = /\.delta"|"modelTurn"/;

/**
 * Estimates the usage of a response that the provider has begun and whose counts have not come. Providers state them in the last event of a
 * response, so a client that leaves before would not be billed. Input is what the client has sent since the last counts.
 */
export class OpenResponse {
  #input = 0;
  #soundInput = 0;
  #output = 0;
  #soundOutput = 0;

  add(message: Uint8Array, isFromClient: boolean): void {
    const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    const head = text.toString('latin1', 0, headBytes);
    if (!isFromClient) {
      if (soundOfModel.test(head)) this.#soundOutput += message.length / soundBytesPerToken.output;
      else if (textOfModel.test(head)) this.#output++;
    } else if (soundOfClient.test(head)) this.#soundInput += message.length / soundBytesPerToken.input;
    else this.#input += tokensOf(text);
  }

  /** Forgets what the provider has counted. */
  counted(): void {
    this.#input = 0;
    this.#soundInput = 0;
    this.#output = 0;
    this.#soundOutput = 0;
  }

  /** Null if no response has begun. */
  usage(): Usage | null {
    if (this.#output + this.#soundOutput === 0) return null;
    const audioInputTokens = Math.ceil(this.#soundInput);
    const audioOutputTokens = Math.ceil(this.#soundOutput);
    const inputTokens = this.#input + audioInputTokens;
    const outputTokens = this.#output + audioOutputTokens;
    return { ...emptyUsage(), inputTokens, outputTokens, audioInputTokens, audioOutputTokens, estimated: true };
  }
}

function tokensOf(message: Buffer): number {
  if (message.length > parsedBytesMax) return attachmentTokens;
  const event = { input: parseObject(message.toString('utf8')) };
  return roughTokens(promptTexts(event)) + tokensBesideTexts(event);
}
