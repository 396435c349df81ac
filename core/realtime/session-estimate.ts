import { emptyUsage, type Usage } from '../contract/values/models/usage.ts';

const bytesPerTextToken = 4;
/** One second of 16-bit sound at 16 kHz has 32 KiB. Providers count it as about 32 tokens. */
const bytesPerSoundToken = 1_024;
/** Longer text messages are taken for audio or images in base64. */
const textBytesMax = 4_096;

/** Estimates the tokens of a session by the size of its messages, for providers that report none. */
export class SessionEstimate {
  #input = 0;
  #output = 0;

  add(message: Uint8Array, isBinary: boolean, isFromClient: boolean): void {
    const isText = !isBinary && message.length <= textBytesMax;
    const tokens = message.length / (isText ? bytesPerTextToken : bytesPerSoundToken);
    if (isFromClient) this.#input += tokens;
    else this.#output += tokens;
  }

  total(): Usage {
    return { ...emptyUsage(), inputTokens: Math.ceil(this.#input), outputTokens: Math.ceil(this.#output), estimated: true };
  }
}
