/** A login that a person has to finish: from when the host is asked to open the page until the tokens are there. */
import type { OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';

export interface LoginParts {
  /** Where the person signs in. */
  readonly url: URL;
  /** Of the MCP server that it is for. */
  readonly serverUrl: string;
  readonly resourceMetadataUrl: URL | undefined;
  readonly fetch: typeof fetch;
  readonly discovered: OAuthDiscoveryState | undefined;
}

export class Login {
  readonly parts: LoginParts;
  /** Digest of the tokens that would not do. */
  insufficient: string | undefined;
  /** Resolves when the tokens are there, or another login is to follow. Rejects with what ended it instead. */
  readonly ended: Promise<void>;
  /** Resolves when the host has asked the person: from then on somebody has to call `finishAuth`. */
  readonly asked: Promise<void>;
  isAsked = false;
  /** Superseded: the host has asked for another one. */
  state: 'open' | 'finished' | 'failed' | 'superseded' = 'open';
  /** What ended it, if it failed. */
  error: unknown;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;
  #resolveAsked!: () => void;

  constructor(parts: LoginParts, insufficient: string | undefined) {
    this.parts = parts;
    this.insufficient = insufficient;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.ended.catch(() => {});
    this.asked = new Promise((resolve) => {
      this.#resolveAsked = resolve;
    });
  }

  noteAsked(): void {
    this.isAsked = true;
    this.#resolveAsked();
  }

  finish(): void {
    this.state = 'finished';
    this.#resolve();
  }

  supersede(): void {
    this.state = 'superseded';
    this.#resolve();
  }

  fail(error: unknown): void {
    this.state = 'failed';
    this.error = error;
    this.#reject(error);
  }
}
