// The WebSocket: comes back after the server was gone.

const SLOWEST = 4000;
// So much of what a person did before the connection stood is kept for it.
const KEPT = 32;

export class Connection {
  // `hear(message)` gets parsed JSON, `see(buffer)` gets pictures, `tell(connected)` every change.
  constructor({ hear, see, tell }) {
    Object.assign(this, { hear, see, tell });
    this.wait = 250;
    this.connected = false;
    this.waiting = [];
    this.open();
  }

  open() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    address.hash = "";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = 250;
      this.connected = this.ever = true;
      this.tell(true);
      this.waiting.splice(0).forEach((text) => socket.send(text));
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.hear(JSON.parse(data)) : this.see(data));
    socket.onclose = ({ reason }) => {
      this.connected = false;
      this.tell(false, reason);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, SLOWEST);
    };
    this.socket = socket;
  }

  // What is said before there is a connection waits for it; what is said while the server is gone does not, as another world may come back.
  send(message) {
    const text = JSON.stringify(message);
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
    else if (!this.ever && this.waiting.length < KEPT) this.waiting.push(text);
  }

  command(command) { this.send({ type: "command", command }); }
}
