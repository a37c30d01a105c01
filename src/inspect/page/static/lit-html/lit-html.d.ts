/** In the browser, our server serves the module of this name from the installed package. */
export * from 'lit-html';
