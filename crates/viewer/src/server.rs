//! The server: one address, one link, one thing that is shown.

use crate::door::{Door, Pass};
use crate::guard::{Guard, harden, random_token, usable_token};
use crate::hub::Hub;
use crate::live::{Gallery, Live};
use crate::message::Order;
use crate::replay::Replay;
use crate::{assets, socket};
use axum::body::Body;
use axum::extract::{Request, State, WebSocketUpgrade};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use meniscus_record::{RecordError, RunFolder};
use meniscus_scene::Loaded;
use meniscus_sim::{BuildError, World};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

/// The port that is tried first.
pub const DEFAULT_PORT: u16 = 7420;
/// Connections at once, strangers included, of which there are fewer.
const MAX_CONNECTIONS: usize = 128;
/// Orders that may wait for the next step; more are refused.
const WAITING_ORDERS: usize = 1024;
/// A request must be whole within this time.
const HURRY: Duration = Duration::from_secs(5);

/// What a server shows.
pub enum Show {
    /// A simulation that runs.
    Live {
        /// The scene to begin with.
        scene: Box<Loaded>,
        /// What else can be shown.
        gallery: Gallery,
        /// Number of threads of the simulation.
        threads: usize,
        /// A folder that gets one folder per session: its scene and what was done, to be repeated.
        sessions: Option<PathBuf>,
    },
    /// A run on disk.
    Record(RunFolder),
}

/// Where a server listens.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen at, default 127.0.0.1.
    pub bind: IpAddr,
    /// The port; default 7420, or any other if that is taken.
    pub port: Option<u16>,
    /// Names other than `localhost` under which the server may be asked for.
    pub names: Vec<String>,
    /// The secret in the link, default random; a fixed one lets a page find a server that was started anew.
    pub token: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { bind: Ipv4Addr::LOCALHOST.into(), port: None, names: Vec::new(), token: None }
    }
}

/// A server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ViewerError {
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The token is too short or has letters that cannot stand in a link.
    #[error("a token has 16 to 128 letters, digits, - and _")]
    Token,
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
    /// No thread can be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// The scene cannot become a world.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The record has no frames.
    #[error("{} has no frames", .0.display())]
    NoFrames(PathBuf),
    /// The scene of a record is wrong.
    #[error(transparent)]
    Scene(#[from] meniscus_scene::SceneError),
}

/// A server at work. It stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    guard: Arc<Guard>,
    runtime: Option<Runtime>,
}

impl Server {
    /// Starts to show something.
    ///
    /// # Errors
    /// When the address is taken, or the record cannot be read.
    pub fn start(show: Show, options: &Options) -> Result<Self, ViewerError> {
        let token = match &options.token {
            Some(token) if usable_token(token) => token.clone(),
            Some(_) => return Err(ViewerError::Token),
            None => random_token().map_err(|e| ViewerError::Random(e.to_string()))?,
        };
        let guard = Arc::new(Guard::new(token, options.bind, &options.names));
        let failed = |e: io::Error| ViewerError::Threads(e.to_string());
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(failed)?;
        let listener = runtime.block_on(listen(options))?;
        let address = listener.local_addr().map_err(failed)?;
        let hub = Arc::new(Hub::new());
        let (give, orders) = mpsc::sync_channel(WAITING_ORDERS);
        let mut thumbnails = Vec::new();
        let threads = std::thread::Builder::new().name("meniscus-show".into());
        match show {
            Show::Live { scene, gallery, threads: count, sessions } => {
                thumbnails = gallery.thumbnails();
                let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
                let pool = pool.map_err(|e| ViewerError::Threads(e.to_string()))?;
                let live = Live::new(hub.clone(), gallery, sessions, count).map_err(failed)?;
                let world = pool.install(|| World::new(&scene))?;
                threads.spawn(move || pool.install(move || live.run(*scene, world, &orders))).map_err(failed)?;
            }
            Show::Record(folder) => {
                let replay = Replay::new(hub.clone(), folder)?;
                threads.spawn(move || replay.run(&orders)).map_err(failed)?;
            }
        }
        let house = Arc::new(House { guard: guard.clone(), hub, orders: give, thumbnails });
        runtime.spawn(accept(listener, rooms(house)));
        Ok(Self { address, guard, runtime: Some(runtime) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The link that opens the page.
    #[must_use]
    pub fn link(&self) -> String {
        let unspecified = self.address.ip().is_unspecified();
        let ip = if unspecified { outward_address().unwrap_or(Ipv4Addr::LOCALHOST.into()) } else { self.address.ip() };
        format!("http://{}/{}/", SocketAddr::new(ip, self.address.port()), self.guard.token())
    }

    /// Serves until the program ends.
    pub fn wait(mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.block_on(std::future::pending::<()>());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

async fn listen(options: &Options) -> Result<TcpListener, ViewerError> {
    let ports: &[u16] = options.port.as_ref().map_or(&[DEFAULT_PORT, 0], std::slice::from_ref);
    let mut address = SocketAddr::new(options.bind, 0);
    let mut failure = io::Error::from(io::ErrorKind::InvalidInput);
    for &port in ports {
        address.set_port(port);
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(ViewerError::Bind { address, source: failure })
}

/// The address of this machine that others would use; nothing is sent.
fn outward_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}

/// Takes connections, not too many at once, and none that dawdles.
async fn accept(listener: TcpListener, rooms: Router) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let door = Door::default();
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            // Out of file descriptors, most likely: wait for some to come back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let pass = door.enter(address.ip());
        let Ok(place) = places.clone().try_acquire_owned() else { continue };
        let rooms = rooms.clone().layer(Extension(pass.clone()));
        tokio::spawn(async move {
            tokio::select! {
                () = talk(stream, rooms) => {}
                () = pass.sent_away() => {}
            }
            drop(place);
        });
    }
}

async fn talk(stream: TcpStream, rooms: Router) {
    // Pictures are whole messages: waiting for more of them would only delay the last one.
    let _ = stream.set_nodelay(true);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HURRY).max_buf_size(64 * 1024);
    // What goes wrong in one connection is of no interest to the others.
    let _ = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(rooms)).with_upgrades().await;
}

/// What all requests need.
struct House {
    guard: Arc<Guard>,
    hub: Arc<Hub>,
    orders: mpsc::SyncSender<Order>,
    thumbnails: Vec<(String, &'static [u8])>,
}

fn rooms(house: Arc<House>) -> Router {
    Router::new()
        .route("/{token}/socket", any(open_socket))
        .fallback(show_file)
        .layer(from_fn_with_state(house.clone(), at_the_door))
        .with_state(house)
}

/// Everybody passes here first.
async fn at_the_door(State(house): State<Arc<House>>, request: Request, next: Next) -> Response {
    let Some(host) = house.guard.host(request.headers()).map(str::to_owned) else {
        return refuse(StatusCode::FORBIDDEN, "this server does not answer to that name\n");
    };
    let inside = house.guard.inside(request.uri().path()).is_some();
    if let (true, Some(pass)) = (inside, request.extensions().get::<Arc<Pass>>()) {
        pass.let_in();
    }
    let mut response = if !inside {
        refuse(StatusCode::FORBIDDEN, "use the link that meniscus printed: it has a token\n")
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        refuse(StatusCode::METHOD_NOT_ALLOWED, "only GET\n")
    } else {
        next.run(request).await
    };
    harden(response.headers_mut(), &host);
    response
}

/// Whoever is refused has no reason to stay.
fn refuse(status: StatusCode, why: &'static str) -> Response {
    (status, [(header::CONNECTION, HeaderValue::from_static("close"))], why).into_response()
}

async fn open_socket(
    State(house): State<Arc<House>>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
    request: Request,
) -> Response {
    if !house.guard.same_origin(request.headers()) {
        return refuse(StatusCode::FORBIDDEN, "only the page of this server may do that\n");
    }
    match upgrade {
        Err(rejection) => rejection.into_response(),
        Ok(upgrade) => upgrade
            .max_message_size(socket::LARGEST_MESSAGE)
            .max_frame_size(socket::LARGEST_MESSAGE)
            .on_upgrade(move |socket| socket::serve(socket, house.hub.clone(), house.orders.clone())),
    }
}

async fn show_file(State(house): State<Arc<House>>, request: Request) -> Response {
    let path = request.uri().path();
    let Some(rest) = house.guard.inside(path) else { return refuse(StatusCode::FORBIDDEN, "") };
    if rest.is_empty() && !path.ends_with('/') {
        // Names in the page are relative to the folder.
        let place = HeaderValue::from_str(&format!("{path}/")).unwrap_or(HeaderValue::from_static("/"));
        return (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, place)]).into_response();
    }
    let file = |kind: &'static str, bytes: &'static [u8]| {
        ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], Body::from(bytes)).into_response()
    };
    if let Some(asset) = assets::find(rest) {
        return file(asset.kind, asset.bytes);
    }
    let name = rest.strip_prefix("thumbnails/").and_then(|rest| rest.strip_suffix(".png"));
    match name.and_then(|name| house.thumbnails.iter().find(|(known, _)| known == name)) {
        Some((_, bytes)) => file("image/png", bytes),
        None => refuse(StatusCode::NOT_FOUND, "there is no such file\n"),
    }
}
